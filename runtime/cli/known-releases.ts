import { type ReleaseResource, releasesOf } from '../api/resources.ts';
import type { Failure } from '../api/release/model.ts';
import { ANY_FAMILY } from '../api/release/names.ts';
import { compare } from '../controller/plan/facts/snapshot.ts';
import { compareSemver } from '../api/shadow/semver.ts';
import { type Cluster, RefusedCommandError } from './command.ts';
import { firstOf } from './output/output.ts';

/** The releases that the cluster knows: by family, the newest first. @throws as `KubeTransport.request` */
export async function knownReleases({ transport }: Cluster): Promise<readonly ReleaseResource[]> {
  const all = await releasesOf(transport).list();
  return all.toSorted(({ spec: a }, { spec: b }) => compare(a.family, b.family) || compareSemver(b.version, a.version));
}

/** A version as people write it, e.g. "v1.2.0". */
export const versionIn = (words: string): string => words.replace(/^v/, '');

/** The releases that are meant: one by its object's name, or each family's by the version. */
export function releasesCalled(known: readonly ReleaseResource[], words: string): readonly ReleaseResource[] {
  const one = known.filter(({ metadata }) => metadata.name === words);
  return one.length > 0 ? one : known.filter(({ spec }) => spec.version === versionIn(words));
}

/** Names that a message has at most. */
const NAMED = 5;

/** There is no such release. It names those that there are, the most alike first. */
export function noRelease(known: readonly ReleaseResource[], words: string): RefusedCommandError {
  if (known.length === 0) return new RefusedCommandError(`there is no release ${words}: the cluster knows none yet`);
  const alike = known.toSorted((a, b) => shared(b.metadata.name, words) - shared(a.metadata.name, words));
  const names = alike.map(({ metadata }) => metadata.name);
  return new RefusedCommandError(`there is no release ${words}: did you mean ${firstOf(names, NAMED)}?`);
}

/** How many characters both begin with. */
function shared(name: string, words: string): number {
  const typed = versionIn(words);
  let length = 0;
  while (length < typed.length && typed[length] === name[length]) length += 1;
  return length;
}

/** e.g. `release 1.2.0 (aws-k8s-1.33/amd64)`. */
export const calledOf = ({ spec: { version, family } }: Pick<ReleaseResource, 'spec'>): string =>
  `release ${version} (${family === ANY_FAMILY ? 'all families' : family})`;

/** Those that are kept, by name of the node. */
export const failuresOf = ({ status }: Pick<ReleaseResource, 'status'>): readonly Failure[] =>
  Object.values(status?.failures ?? {}).toSorted((a, b) => compare(a.node, b.node));

/** The nodes that have failed, each with its reason. */
export const failedTexts = (release: Pick<ReleaseResource, 'status'>): readonly string[] =>
  failuresOf(release).map(({ node, reason }) => `${node} (${reason})`);
