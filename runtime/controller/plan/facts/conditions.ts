import { rfc3339 } from '../../../lib/clock.ts';
import { UP_TO_DATE } from '../../../api/shadow/names.ts';
import type { ShadowCondition, Status } from '../../../api/shadow/model.ts';
import type { SetCondition } from './commands.ts';
import { conditionOf } from './reasons.ts';
import type { ShadowView } from './snapshot.ts';
import { atTime, type Finding, type Verdict } from './verdict.ts';

interface ConditionRules {
  /** Names of shadows that are about to be written. */
  readonly written: ReadonlySet<string>;
  readonly limit: number;
  readonly now: number;
}

/**
 * Writes for the conditions that differ from the verdicts, of which each node has one. A shadow that is about to be written, or whose view is
 * stale, gets its condition later, once that write has been seen.
 */
export function conditionCommands(
  nodes: readonly { readonly shadow: ShadowView | undefined }[],
  verdicts: readonly Verdict[],
  { written, limit, now }: ConditionRules,
): readonly SetCondition[] {
  const timestamp = rfc3339(now);
  const commands: SetCondition[] = [];
  for (let at = 0; at < nodes.length && commands.length < limit; at++) {
    const shadow = nodes[at]?.shadow;
    const verdict = verdicts[at];
    if (!shadow || !verdict || shadow.stale || written.has(shadow.name)) continue;
    const command = conditionFor(shadow, verdict, timestamp);
    if (command) commands.push(command);
  }
  return commands;
}

/**
 * The write that makes the condition say what the verdict says, or what stands for it; undefined where it says so already, or where there is no status yet.
 * @param timestamp now, RFC 3339
 */
function conditionFor(
  { name, resourceVersion, status, offeredAt }: ShadowView,
  finding: Finding,
  timestamp: string,
): SetCondition | undefined {
  if (!status) return undefined;
  const before = conditionUpToDate(status);
  const value = valueOf(status, finding.reason);
  const { reason, message } = conditionOf(finding);
  if (before?.status === value && before.reason === reason && before.message === message) return undefined;
  const lastTransitionTime =
    before?.status === value ? before.lastTransitionTime : (transition(value, offeredAt) ?? timestamp);
  const others = (status.conditions ?? []).filter(({ type }) => type !== UP_TO_DATE);
  const condition: ShadowCondition = { type: UP_TO_DATE, status: value, reason, message, lastTransitionTime };
  return { kind: 'set-condition', shadow: name, resourceVersion, conditions: [...others, condition] };
}

/** The time of the offer, also if the condition is written later: the schedule may have triggered in between. Undefined = now. */
function transition(value: ShadowCondition['status'], offeredAt: number | undefined): string | undefined {
  return value === 'False' && offeredAt !== undefined ? atTime(offeredAt) : undefined;
}

/** False from the moment that an update is offered, which is its last transition, until it is withdrawn or made. */
function valueOf(status: Status, reason: Finding['reason']): ShadowCondition['status'] {
  if (status.current_version !== status.target_version || reason === 'Updating') return 'False';
  return reason === 'UpToDate' ? 'True' : 'Unknown';
}

export function conditionUpToDate(status: Pick<Status, 'conditions'> | undefined): ShadowCondition | undefined {
  return status?.conditions?.find(({ type }) => type === UP_TO_DATE);
}
