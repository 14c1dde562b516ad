import { instantOf } from '../../../lib/clock.ts';
import { notReadyText } from '../facts/node.ts';
import type { World } from '../gates/asking.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { isStepOver, type Phase, PHASES } from '../facts/phase.ts';
import { type GateResult, NEVER, PASS } from '../facts/requeue.ts';
import type { Settings } from '../facts/snapshot.ts';
import { STEP_WORDS, stepOf } from '../facts/steps.ts';
import { atTime, found } from '../facts/verdict.ts';

/** That the update has come no further for longer than its step may take. */
export function overdue(info: AssessedNode, { settings, now }: World): GateResult {
  const deadline = progressDeadline(info, settings);
  if (!info.shadow || !deadline) return PASS;
  const { since, endsAt } = deadline;
  if (!(endsAt <= now)) return { finding: undefined, changesAt: endsAt };
  const version = info.shadow.spec.version ?? 'the next version';
  const message = info.node.ready
    ? `the update to ${version} has come no further than ${STEP_WORDS[stepOf(info)]} since ${atTime(since)}`
    : `the node is ${notReadyText(info.node)} since ${atTime(since)}, in the middle of its update to ${version}`;
  return { finding: { ...found('ProgressDeadlineExceeded', message), since }, changesAt: NEVER };
}

/** An update whose step takes longer than it may. */
interface Deadline {
  /** When the step began, or when the node went not Ready in it. */
  readonly since: number;
  readonly endsAt: number;
}

/**
 * The deadline of an update that would otherwise count as running. Only a person ends an update that has passed it. A soak has times of its
 * own.
 */
function progressDeadline({ node, shadow, health, phase }: AssessedNode, policy: Settings): Deadline | undefined {
  if (!shadow || health.soak !== undefined) return undefined;
  // The time of a drain counts from when it has let all work finish.
  const drainAt = phase.kind === 'draining' ? instantOf(shadow.status?.drain?.started_at) : undefined;
  const begun = Math.max(shadow.stepBeganAt, drainAt ?? -Infinity);
  if (node.ready) return { since: begun, endsAt: begun + limitOf(phase, policy) };
  const since = Math.max(begun, node.readyChangedAt);
  return { since, endsAt: since + policy.returnTimeoutMs };
}

/**
 * How long the step may take, milliseconds. A step that is over has no limit: the controller was away or a pause was lifted, so the node is
 * not late. The next step is written by this plan, or the verdict says why not.
 */
const limitOf = (phase: Phase, settings: Settings): number =>
  isStepOver(phase) ? Infinity : PHASES[phase.kind].limitMs(settings);
