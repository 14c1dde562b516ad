import type { SetSpec } from '../facts/commands.ts';
import { completionOf } from '../facts/machine.ts';
import type { ShadowView } from '../facts/snapshot.ts';
import type { AssessedNode } from './health.ts';
import { missingText } from './settle.ts';

/** What is said with the write by which an update goes on: of its end, and of the drain that it asks for. */
export const saidWith = (
  info: AssessedNode,
  shadow: ShadowView,
  spec: SetSpec['spec'],
): Pick<SetSpec, 'completes' | 'letFinish'> => ({ ...endsOf(info, shadow), ...asksOf(info, spec) });

function endsOf({ permit, health }: AssessedNode, shadow: ShadowView): Pick<SetSpec, 'completes'> {
  if (health.soak !== 'passed') return {};
  const notBack = health.settling === undefined ? undefined : missingText(shadow.status);
  return { completes: { ...completionOf(shadow, permit), notBack } };
}

const asksOf = ({ ruling }: AssessedNode, { state }: SetSpec['spec']): Pick<SetSpec, 'letFinish'> =>
  state === 'RebootedIntoUpdate' ? { letFinish: ruling.rules.letFinish } : {};
