import { EXPEDITED_ANNOTATION } from '../../api/release/decided.ts';
import { ANY_POLICY } from '../../api/release/names.ts';
import { askedText } from '../../api/shadow/asked.ts';
import { BY_OPTION, CHANGE_OPTIONS, requestOf } from '../change.ts';
import { changeReleases, naming, policyIn } from '../change-releases.ts';
import type { Answer, Command, CommandRequest } from '../command.ts';
import { connectToOperator } from '../operator.ts';

export const expedite: Command = {
  name: 'expedite',
  args: 'RELEASE',
  summary: 'let a release start ahead of its windows, its age, intervals and pauses',
  details: `RELEASE is a version, for every variant and architecture that knows it, or the name of one BottlerocketRelease. A version that no node
knows yet is expedited for all of them before it is offered. Freezes hold, but for those with exceptExpedited: true; a halt, a proof, approval, budgets
and PodDisruptionBudgets hold in any case. Stays so until it is undone; updates that have begun then go on, but for those that a freeze or the age calls off.`,
  options: {
    policy: { type: 'string', value: 'NAME', help: 'only under this policy; by default under all' },
    ...BY_OPTION,
    ...CHANGE_OPTIONS,
  },
  minArgs: 1,
  maxArgs: 1,
  run: (request) => expediteFor(request),
};

async function expediteFor(request: CommandRequest): Promise<Answer> {
  const cluster = await connectToOperator(request);
  const policy = await policyIn(request, cluster);
  const metadata = { annotations: { [EXPEDITED_ANNOTATION]: askedText(requestOf(request)) } };
  return changeReleases(request, cluster, {
    says: `is expedited${policy === ANY_POLICY ? '' : ` under policy ${policy}`}: it waits for no window, age, interval or pause`,
    ...naming('expediteFor', policy, metadata),
    ahead: { metadata, spec: { expediteFor: [policy] } },
  });
}
