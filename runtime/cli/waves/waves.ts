import type { Collection } from '../../kube/collection.ts';
import type { KubeObject, Node } from '../../kube/objects.ts';
import { nodesOf } from '../../kube/resources.ts';
import { type ReleaseResource, type ShadowObject, shadowsOf } from '../../api/resources.ts';
import { type Ledger, ledgerOf } from '../../api/release/ledger.ts';
import type { FailingCheck, Status } from '../../api/shadow/model.ts';
import { compareSemver, familyOf } from '../../api/shadow/semver.ts';
import { type Comings, comingsOf, type Member, type PublishedVersion, type Reach, reachOf, turnOf } from './turns.ts';
import { turnText } from './words.ts';
import { durationText, instantOf } from '../../lib/clock.ts';
import type { Cluster } from '../command.ts';
import { ifAllowed, readReleases } from '../reading.ts';
import { shadowName } from '../../api/shadow/names.ts';

/** What the sentences about waves are made from. */
export interface Waves {
  readonly nodes: readonly { readonly name: string; readonly shadowName: string; readonly family: string }[];
  readonly shadows: readonly { readonly name: string; readonly status?: Status | undefined }[];
  readonly releases: {
    readonly objects: readonly { readonly family: string; readonly version: string; readonly ledger: Ledger }[];
  };
}

/** Reads the whole fleet, for releases that are read already. What the user may not read counts as empty. */
export async function readWaves(
  { transport, namespace }: Cluster,
  releases: readonly ReleaseResource[],
): Promise<Waves> {
  const [nodes, shadows] = await Promise.all([
    ifAllowed(nodesOf(transport).list(), []),
    ifAllowed(shadowsOf(transport, namespace).list(), []),
  ]);
  return wavesOf(nodes.value, shadows.value, releases);
}

/** Reads these nodes alone, and the releases. */
export async function readWavesOf({ transport, namespace }: Cluster, names: readonly string[]): Promise<Waves> {
  const [nodes, shadows, releases] = await Promise.all([
    eachOf(names, nodesOf(transport)),
    eachOf(names.map(shadowName), shadowsOf(transport, namespace)),
    ifAllowed(readReleases(transport), []),
  ]);
  return wavesOf(nodes, shadows, releases.value);
}

async function eachOf<T extends KubeObject>(
  names: readonly string[],
  collection: Pick<Collection<T>, 'get'>,
): Promise<readonly T[]> {
  const found = await Promise.all(names.map((name) => ifAllowed(collection.get(name), undefined)));
  return found.flatMap(({ value }) => value ?? []);
}

export const wavesOf = (
  nodes: readonly Node[],
  shadows: readonly ShadowObject[],
  releases: readonly ReleaseResource[],
): Waves => ({
  nodes: nodes.map((node) => {
    const { name } = node.metadata;
    return { name, shadowName: shadowName(name), family: familyOf(node) };
  }),
  shadows: shadows.map(({ metadata, status }) => ({ name: metadata.name, status: status ?? undefined })),
  releases: { objects: releases.map(({ spec, status }) => ({ ...spec, ledger: ledgerOf(status) })) },
});

/** Versions of a family that repositories list, the newest first. */
export function publishedIn({ releases }: Pick<Waves, 'releases'>, family: string): readonly PublishedVersion[] {
  const own = releases.objects.filter((one) => one.family === family);
  const listed = own.flatMap(({ version, ledger: { published } }) => (published ? [{ version, published }] : []));
  const unique = new Map(listed.map((one) => [one.version, one]));
  return [...unique.values()].toSorted((a, b) => compareSemver(b.version, a.version));
}

/** What is out for a node besides what it runs or is offered: the newest version alone. */
export function turnLine(waves: Waves, name: string, now: number): string | undefined {
  const node = waves.nodes.find((one) => one.name === name);
  const status = node && waves.shadows.find((one) => one.name === node.shadowName)?.status;
  const [newest] = node ? publishedIn(waves, node.family) : [];
  if (!status || !newest) return undefined;
  const { current_version: runs, target_version: offered, update_settings: settings, check } = status;
  if ([runs, offered].some((version) => compareSemver(version, newest.version) >= 0)) return undefined;
  return turnText(newest.version, turnOf(newest, settings), { now, lastLook: lastLookText(check, now) });
}

function lastLookText(check: FailingCheck | null | undefined, now: number): string {
  if (!check) return 'its agent asks the host every few minutes, and says what it is offered';
  const succeeded = instantOf(check.succeeded_at);
  const last =
    succeeded === undefined
      ? 'it has not looked with success yet'
      : `it last looked ${durationText(now - succeeded)} ago`;
  return `${last} (${check.error})`;
}

/** How far a release has come in its family; undefined where repositories do not list it, or nobody waits for it. */
export function reachIn(
  waves: Waves,
  { family, version }: { readonly family: string; readonly version: string },
  now: number,
): Reach | undefined {
  const release = publishedIn(waves, family).find((one) => one.version === version);
  const members = membersIn(waves, family);
  if (!release || members.every(({ runs }) => compareSemver(runs, version) >= 0)) return undefined;
  return reachOf(release, members, now);
}

function membersIn(waves: Pick<Waves, 'nodes' | 'shadows'>, family: string): readonly Member[] {
  const statuses = new Map(waves.shadows.map(({ name, status }) => [name, status]));
  return waves.nodes.flatMap((node) => {
    const status = node.family === family ? statuses.get(node.shadowName) : undefined;
    return status ? [{ runs: status.current_version, settings: status.update_settings }] : [];
  });
}

/** When each node of a family may have a release, and what is published of it; undefined where repositories do not list it. */
export function comingIn(
  waves: Waves,
  { family, version }: { readonly family: string; readonly version: string },
): (Comings & Pick<PublishedVersion, 'published'>) | undefined {
  const release = publishedIn(waves, family).find((one) => one.version === version);
  return release && { ...comingsOf(release, membersIn(waves, family)), published: release.published };
}
