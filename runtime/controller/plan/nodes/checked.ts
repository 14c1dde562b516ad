import type { Check } from '../../../api/policy/checks.ts';
import { type CheckStates, openCheck } from '../facts/checks.ts';
import { NEVER } from '../facts/requeue.ts';
import { ruledFrom, type Ruling } from '../facts/rulings.ts';
import type { PolicyView } from '../facts/policies.ts';
import type { NodeInfo, Snapshot } from '../facts/snapshot.ts';
import type { Measures } from './trial.ts';

/** Those of a list pass one after the other. What has no permit was begun by an older controller, and is not checked. */
export function checkedBy(
  { node, permit }: NodeInfo,
  checks: readonly Check[],
  states: CheckStates,
): ReturnType<Measures['checked']> {
  if (checks.length === 0 || !permit) return undefined;
  const open = openCheck(states, { uid: node.uid, when: 'after', checks, attempt: permit.id, now: -Infinity });
  if (!open) return 'passed';
  return open.state?.result === 'Failed' ? 'failed' : 'waiting';
}

/** Until when nobody knows what its policy checks: while several that do so claim it, or the one that does cannot be obeyed, and for a moment after the one that began its update is gone. */
export function unclearUntilOf(
  { node, permit }: NodeInfo,
  { policy, rivals }: Ruling,
  snapshot: Pick<Snapshot, 'ruledSince'>,
): number {
  if (!permit) return -Infinity;
  if ([...unreadable(policy), ...rivals].some(asksAfter)) return NEVER;
  if (!policy) return -Infinity;
  const isOwn = permit.policy === undefined || permit.policy.name === (policy.name ?? '');
  return isOwn ? -Infinity : ruledFrom(snapshot, node.uid);
}

/** The rivals of a policy that rules are none. */
const unreadable = (policy: Ruling['policy']): readonly PolicyView['policy'][] =>
  !policy || 'checks' in policy ? [] : [policy];

const asksAfter = (policy: PolicyView['policy']): boolean =>
  'checks' in policy ? policy.checks.after.length > 0 : policy.checksAfter;
