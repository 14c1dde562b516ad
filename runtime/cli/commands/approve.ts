import { type ReleaseResource, POLICIES_PATH, RELEASES_PATH } from '../../api/resources.ts';
import {
  ANY_FAMILY,
  RELEASE_API_VERSION,
  RELEASE_KIND,
  RELEASE_SHORT_NAME,
  releaseObjectName,
} from '../../api/release/names.ts';
import { isSemver } from '../../api/shadow/semver.ts';
import { NotFoundError } from '../../kube/errors.ts';
import { objectPath } from '../../kube/paths.ts';
import { type Change, CHANGE_OPTIONS, changeAll, createObject, isDryRun, patchObject } from '../change.ts';
import { type Answer, type Command, type CommandRequest, RefusedCommandError, UsageError } from '../command.ts';
import { calledOf, knownReleases, noRelease, releasesCalled, versionIn } from '../known-releases.ts';
import { connectToOperator, type OperatedCluster } from '../operator.ts';

export const approve: Command = {
  name: 'approve',
  args: 'RELEASE',
  summary: 'let a release start under a policy that wants each to be approved',
  details: `RELEASE is a version, for every variant and architecture that knows it, or the name of one BottlerocketRelease. A version that no node
knows yet is approved for all of them before it is offered. It stays approved: spec.approvedFor of the release names the policy.`,
  options: { policy: { type: 'string', value: 'NAME', help: 'the policy; required' }, ...CHANGE_OPTIONS },
  minArgs: 1,
  maxArgs: 1,
  run: (request) => approveFor(request),
};

interface Session {
  readonly request: CommandRequest;
  readonly cluster: OperatedCluster;
  readonly policy: string;
}

async function approveFor(request: CommandRequest): Promise<Answer> {
  const { policy } = request.values;
  if (typeof policy !== 'string') throw new UsageError('approve: expected --policy NAME');
  const cluster = await connectToOperator(request);
  await mustExist(cluster, policy);
  const [words = ''] = request.names;
  const known = await knownReleases(cluster);
  const called = releasesCalled(known, words);
  const session = { request, cluster, policy };
  const wanted = called.map((one) => ({ object: calledOf(one), change: () => add(session, one) }));
  if (wanted.length > 0) return changeAll(request, wanted);
  const version = versionIn(words);
  if (!isSemver(version)) throw noRelease(known, words);
  const ahead = { spec: { family: ANY_FAMILY, version, approvedFor: [policy] } };
  return changeAll(request, [{ object: calledOf(ahead), change: () => create(session, ahead) }]);
}

async function mustExist({ transport }: OperatedCluster, policy: string): Promise<void> {
  await transport.request({ method: 'GET', path: objectPath(POLICIES_PATH, policy) }).catch((error: unknown) => {
    if (error instanceof NotFoundError) throw new RefusedCommandError(`there is no policy ${policy}`, { cause: error });
    throw error;
  });
}

const saysOf = ({ policy }: Session): string => `is approved for policy ${policy}`;

async function add(session: Session, release: ReleaseResource): Promise<Change> {
  const { request, cluster, policy } = session;
  const { name } = release.metadata;
  const target = { path: RELEASES_PATH, name, called: calledOf(release), dryRun: isDryRun(request) };
  let before: readonly string[] = [];
  const changed = await patchObject(cluster, target, (object) => {
    before = (object as ReleaseResource).spec.approvedFor ?? [];
    return before.includes(policy) ? undefined : { spec: { approvedFor: [...before, policy] } };
  });
  const patch = JSON.stringify({ spec: { approvedFor: before } });
  const undo = `kubectl patch ${RELEASE_SHORT_NAME} ${name} --type merge --patch '${patch}'`;
  return { object: target.called, changed, says: saysOf(session), undo };
}

async function create(session: Session, { spec }: Pick<ReleaseResource, 'spec'>): Promise<Change> {
  const name = releaseObjectName(spec);
  const object = { apiVersion: RELEASE_API_VERSION, kind: RELEASE_KIND, metadata: { name }, spec };
  await createObject(session.cluster, { path: RELEASES_PATH, object, dryRun: isDryRun(session.request) });
  const undo = `kubectl delete ${RELEASE_SHORT_NAME} ${name}`;
  return { object: calledOf({ spec }), changed: true, says: saysOf(session), undo };
}
