import { POLICIES_PATH, type ReleaseResource, RELEASES_PATH } from '../api/resources.ts';
import {
  ANY_FAMILY,
  ANY_POLICY,
  isMeant,
  RELEASE_API_VERSION,
  RELEASE_KIND,
  RELEASE_SHORT_NAME,
  releaseObjectName,
} from '../api/release/names.ts';
import { isSemver } from '../api/shadow/semver.ts';
import { NotFoundError } from '../kube/errors.ts';
import { objectPath } from '../kube/paths.ts';
import { type Change, changeAll, createObject, isDryRun, patchObject } from './change.ts';
import { type Answer, type CommandRequest, RefusedCommandError } from './command.ts';
import { calledOf, knownReleases, noRelease, releasesCalled, versionIn } from './known-releases.ts';
import type { OperatedCluster } from './operator.ts';

/** What a command does to each release that is meant. */
export interface ReleaseChange {
  /** What is so afterwards, behind the release's name. */
  readonly says: string;
  /** A merge patch for the release as it is; undefined where nothing is to be changed. */
  readonly patchOf: (release: ReleaseResource) => object | undefined;
  /** The command by which what was there before comes back. */
  readonly undoOf: (before: ReleaseResource) => string;
  /** What is written of a version that no node knows yet, before any host is offered it; undefined: there has to be one. */
  readonly ahead: Written | undefined;
}

interface Written {
  readonly metadata?: Pick<ReleaseResource['metadata'], 'annotations'>;
  readonly spec: Partial<ReleaseResource['spec']>;
}

/** Changes those that `words` names: a version, for each family that knows it, or an object. @throws RefusedCommandError where there is none */
export async function changeReleases(
  request: CommandRequest,
  cluster: OperatedCluster,
  change: ReleaseChange,
): Promise<Answer> {
  const [words = ''] = request.names;
  const known = await knownReleases(cluster);
  const called = releasesCalled(known, words);
  const session = { request, cluster, change };
  const wanted = called.map((one) => ({ object: calledOf(one), change: () => patched(session, one) }));
  if (wanted.length > 0) return changeAll(request, wanted);
  const version = versionIn(words);
  if (!change.ahead || !isSemver(version)) throw noRelease(known, words);
  const ahead = { ...change.ahead, spec: { family: ANY_FAMILY, version, ...change.ahead.spec } };
  return changeAll(request, [{ object: calledOf(ahead), change: () => created(session, ahead) }]);
}

/** Names a policy in a list of the release's spec: the list as it was is what undoes it. @param metadata what is written besides */
export function naming(
  field: 'approvedFor' | 'expediteFor' | 'rollbackFor',
  policy: string,
  metadata?: Written['metadata'],
): Pick<ReleaseChange, 'patchOf' | 'undoOf'> {
  const listed = ({ spec }: ReleaseResource): readonly string[] => spec[field] ?? [];
  return {
    patchOf: (release) => {
      const before = listed(release);
      // Nothing approves a release under every policy.
      const isNamed = field === 'approvedFor' ? before.includes(policy) : isMeant(before, policy);
      return isNamed ? undefined : { ...(metadata && { metadata }), spec: { [field]: [...before, policy] } };
    },
    undoOf: (before) => {
      const patch = JSON.stringify({ spec: { [field]: listed(before) } });
      return `kubectl patch ${RELEASE_SHORT_NAME} ${before.metadata.name} --type merge --patch '${patch}'`;
    },
  };
}

/** The policy that --policy names; all of them without it. @throws RefusedCommandError where there is no such policy */
export async function policyIn(
  { values: { policy } }: CommandRequest,
  { transport }: OperatedCluster,
): Promise<string> {
  if (typeof policy !== 'string') return ANY_POLICY;
  await transport.request({ method: 'GET', path: objectPath(POLICIES_PATH, policy) }).catch((error: unknown) => {
    if (error instanceof NotFoundError) throw new RefusedCommandError(`there is no policy ${policy}`, { cause: error });
    throw error;
  });
  return policy;
}

interface Session {
  readonly request: CommandRequest;
  readonly cluster: OperatedCluster;
  readonly change: ReleaseChange;
}

async function patched({ request, cluster, change }: Session, release: ReleaseResource): Promise<Change> {
  const target = {
    path: RELEASES_PATH,
    name: release.metadata.name,
    called: calledOf(release),
    dryRun: isDryRun(request),
  };
  let before = release;
  const changed = await patchObject(cluster, target, (object) => {
    before = object as ReleaseResource;
    return change.patchOf(before);
  });
  return { object: target.called, changed, says: change.says, undo: change.undoOf(before) };
}

async function created(
  { request, cluster, change }: Session,
  { metadata, spec }: Written & Pick<ReleaseResource, 'spec'>,
): Promise<Change> {
  const name = releaseObjectName(spec);
  const object = { apiVersion: RELEASE_API_VERSION, kind: RELEASE_KIND, metadata: { name, ...metadata }, spec };
  await createObject(cluster, { path: RELEASES_PATH, object, dryRun: isDryRun(request) });
  const undo = `kubectl delete ${RELEASE_SHORT_NAME} ${name}`;
  return { object: calledOf({ spec }), changed: true, says: change.says, undo };
}
