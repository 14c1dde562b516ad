import { POLICIES_PATH, type ReleaseResource } from '../../api/resources.ts';
import { RELEASE_SHORT_NAME } from '../../api/release/names.ts';
import { NotFoundError } from '../../kube/errors.ts';
import { objectPath } from '../../kube/paths.ts';
import { CHANGE_OPTIONS } from '../change.ts';
import { changeReleases } from '../change-releases.ts';
import { type Answer, type Command, type CommandRequest, RefusedCommandError, UsageError } from '../command.ts';
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

async function approveFor(request: CommandRequest): Promise<Answer> {
  const { policy } = request.values;
  if (typeof policy !== 'string') throw new UsageError('approve: expected --policy NAME');
  const cluster = await connectToOperator(request);
  await mustExist(cluster, policy);
  return changeReleases(request, cluster, {
    says: `is approved for policy ${policy}`,
    patchOf: (release) => {
      const before = approvedFor(release);
      return before.includes(policy) ? undefined : { spec: { approvedFor: [...before, policy] } };
    },
    undoOf: (before) => {
      const patch = JSON.stringify({ spec: { approvedFor: approvedFor(before) } });
      return `kubectl patch ${RELEASE_SHORT_NAME} ${before.metadata.name} --type merge --patch '${patch}'`;
    },
    ahead: { spec: { approvedFor: [policy] } },
  });
}

const approvedFor = ({ spec }: ReleaseResource): readonly string[] => spec.approvedFor ?? [];

/** @throws RefusedCommandError where there is no such policy */
export async function mustExist({ transport }: OperatedCluster, policy: string): Promise<void> {
  await transport.request({ method: 'GET', path: objectPath(POLICIES_PATH, policy) }).catch((error: unknown) => {
    if (error instanceof NotFoundError) throw new RefusedCommandError(`there is no policy ${policy}`, { cause: error });
    throw error;
  });
}
