import { CHANGE_OPTIONS } from '../change.ts';
import { changeReleases, naming, policyIn } from '../change-releases.ts';
import { type Answer, type Command, type CommandRequest, UsageError } from '../command.ts';
import { connectToOperator } from '../operator.ts';

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
  if (typeof request.values['policy'] !== 'string') throw new UsageError('approve: expected --policy NAME');
  const cluster = await connectToOperator(request);
  const policy = await policyIn(request, cluster);
  return changeReleases(request, cluster, {
    says: `is approved for policy ${policy}`,
    ...naming('approvedFor', policy),
    ahead: { spec: { approvedFor: [policy] } },
  });
}
