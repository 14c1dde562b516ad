import type { ReleaseResource } from '../../api/resources.ts';
import { ANY_POLICY, isMeant, RELEASE_SHORT_NAME } from '../../api/release/names.ts';
import { CHANGE_OPTIONS } from '../change.ts';
import { changeReleases } from '../change-releases.ts';
import type { Answer, Command, CommandRequest } from '../command.ts';
import { connectToOperator } from '../operator.ts';
import { mustExist } from './approve.ts';

export const expedite: Command = {
  name: 'expedite',
  args: 'RELEASE',
  summary: 'let a release start ahead of its windows, its age, intervals and pauses',
  details: `RELEASE is a version, for every variant and architecture that knows it, or the name of one BottlerocketRelease. A version that no node
knows yet is expedited for all of them before it is offered. Freezes hold, but for those with exceptExpedited: true; a halt, a proof, approval, budgets
and PodDisruptionBudgets hold in any case. Stays so until it is undone; updates that have begun then go on, but for those that a freeze or the age calls off.`,
  options: {
    policy: { type: 'string', value: 'NAME', help: 'only under this policy; by default under all' },
    ...CHANGE_OPTIONS,
  },
  minArgs: 1,
  maxArgs: 1,
  run: (request) => expediteFor(request),
};

async function expediteFor(request: CommandRequest): Promise<Answer> {
  const { policy } = request.values;
  const place = typeof policy === 'string' ? policy : ANY_POLICY;
  const cluster = await connectToOperator(request);
  if (place !== ANY_POLICY) await mustExist(cluster, place);
  return changeReleases(request, cluster, {
    says: `is expedited${place === ANY_POLICY ? '' : ` under policy ${place}`}: it waits for no window, age, interval or pause`,
    patchOf: ({ spec }) => {
      const before = spec.expediteFor ?? [];
      return isMeant(before, place) ? undefined : { spec: { expediteFor: [...before, place] } };
    },
    undoOf: (before) => undoOf(before),
    ahead: { spec: { expediteFor: [place] } },
  });
}

function undoOf({ metadata, spec }: ReleaseResource): string {
  const patch = JSON.stringify({ spec: { expediteFor: spec.expediteFor ?? [] } });
  return `kubectl patch ${RELEASE_SHORT_NAME} ${metadata.name} --type merge --patch '${patch}'`;
}
