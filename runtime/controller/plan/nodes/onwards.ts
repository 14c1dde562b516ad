import { MOVED_NOBODY_ANNOTATION } from '../../../api/shadow/names.ts';
import { type At, isSpared } from '../facts/arriving.ts';
import type { SetSpec } from '../facts/commands.ts';
import { completionOf } from '../facts/machine.ts';
import type { ShadowView } from '../facts/snapshot.ts';
import type { AssessedNode } from './health.ts';
import { missingText } from './settle.ts';

/** What is said with the write by which an update goes on: of its end, and of the drain that it asks for. */
export const saidWith = (
  info: AssessedNode,
  shadow: ShadowView,
  { spec, at }: { readonly spec: SetSpec['spec']; readonly at: At },
): Pick<SetSpec, 'completes' | 'annotations' | 'letFinish'> => ({ ...endsOf(info, shadow, at), ...asksOf(info, spec) });

function endsOf(info: AssessedNode, shadow: ShadowView, at: At): Pick<SetSpec, 'completes' | 'annotations'> {
  const { permit, health, phase } = info;
  const { state_transition_failure_timestamp: failedAt } = shadow.status ?? {};
  if (phase.kind === 'failed' && failedAt != null && isSpared(info, at))
    return { annotations: { [MOVED_NOBODY_ANNOTATION]: failedAt } };
  if (health.soak !== 'passed') return {};
  const notBack = health.settling === undefined ? undefined : missingText(shadow.status);
  const movedNobody = isSpared(info, at) && { movedNobody: true };
  return { completes: { ...completionOf(shadow, permit), notBack, ...movedNobody } };
}

const asksOf = ({ ruling }: AssessedNode, { state }: SetSpec['spec']): Pick<SetSpec, 'letFinish'> =>
  state === 'RebootedIntoUpdate' ? { letFinish: ruling.rules.letFinish } : {};
