import type { Freeze, UpdatePolicy } from '../../policy/policy.ts';
import type { Families } from './families.ts';
import type { Group } from './groups.ts';
import { nextAfter } from './requeue.ts';
import type { NodeView, ShadowView, Snapshot, WindowState } from './snapshot.ts';
import { atTime, drainBlockedFinding, type Finding, found, type GateResult, PASS, stopped } from './verdict.ts';

/** What keeps a start for a time, each with when that ends. */
interface Times {
  readonly snapshot: Pick<Snapshot, 'drainRefusals'>;
  readonly families: Families;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

interface OnNode {
  readonly node: NodeView;
  readonly shadow: ShadowView;
}

/** Whether a freeze of the policy holds. Of several, the one that began first is named. */
export function frozen({ freezes }: Pick<UpdatePolicy, 'freezes'>, now: number): GateResult {
  if (freezes.length === 0) return PASS;
  let current: Freeze | undefined;
  for (const freeze of freezes) {
    const holds = freeze.from <= now && now < freeze.to;
    if (holds && (!current || freeze.from < current.from)) current = freeze;
  }
  if (current) return stopped(found('Frozen', `${current.reason}, until ${atTime(current.to)}`, current.to));
  const changesAt = nextAfter(
    now,
    freezes.map(({ from }) => from),
  );
  return { finding: undefined, changesAt };
}

/** What time says of a start: the node's own pauses first, then the window, then the policy's pause. */
export function notYet(on: OnNode, group: Group, times: Times): GateResult {
  const { shadow } = on;
  const window = windowFor(on, group);
  const finding =
    backingOff(on, times.now) ?? refusedLately(shadow, times) ?? (window && outsideWindow(shadow, window));
  if (finding) return stopped(finding);
  const closing = window ? beforeClosing(on, { ...times, window, group }) : PASS;
  if (closing.finding || group.pausesUntil <= times.now) return closing;
  const until = group.pausesUntil;
  const pausing = found('Pausing', `the next update under the policy starts after ${atTime(until)}`, until);
  return { finding: pausing, changesAt: Math.min(until, closing.changesAt) };
}

/** None for a node that somebody has asked for: he has chosen the time (rule P9). */
function windowFor({ node }: OnNode, { view }: Group): WindowState | undefined {
  return view.kind === 'valid' && node.askedBy === undefined ? view.window : undefined;
}

const MINUTE_MS = 60_000;
const LONGEST_BACKOFF_MINUTES = 1440;

/**
 * After a failure a node tries again only after more than min(2^crashes, 1440) minutes. There is no pause where nobody knows when it
 * failed, and none after the failure that somebody has named on the node: the next failure is another one (rule P9).
 */
function backingOff({ node, shadow: { status, failedAt } }: OnNode, now: number): Finding | undefined {
  if (!status || status.crash_count === 0 || failedAt === undefined) return undefined;
  if (node.retryOf !== undefined && node.retryOf === status.state_transition_failure_timestamp) return undefined;
  const until = failedAt + Math.min(2 ** status.crash_count, LONGEST_BACKOFF_MINUTES) * MINUTE_MS + 1;
  if (until <= now) return undefined;
  return found('BackingOff', `the last attempt failed; the next one comes after ${atTime(until)}`, until);
}

/** Its update was called off because its drain was refused. */
function refusedLately({ name, status }: ShadowView, { snapshot, now }: Times): Finding | undefined {
  if (snapshot.drainRefusals.size === 0) return undefined;
  const refusal = snapshot.drainRefusals.get(name);
  if (refusal?.kind !== 'called-off' || refusal.retryAt <= now) return undefined;
  return { ...drainBlockedFinding(status), until: refusal.retryAt };
}

/** Where updates start at moments, a node that was offered its update before the last moment is in time. */
function outsideWindow({ offeredAt }: ShadowView, { open, triggeredAt, changesAt }: WindowState): Finding | undefined {
  if (open || (triggeredAt !== undefined && offeredAt !== undefined && offeredAt <= triggeredAt)) return undefined;
  if (changesAt === undefined) return found('OutsideWindow', 'the schedule names no time to come');
  return found('OutsideWindow', `updates start again at ${atTime(changesAt)}`, changesAt);
}

interface Closing extends Times {
  readonly window: WindowState;
  readonly group: Group;
}

/** The window must not close before the node would be done, by how long its last update took, or else the longest of its kind. */
function beforeClosing({ node, shadow }: OnNode, { window, group, families, now }: Closing): GateResult {
  const { open, changesAt } = window;
  if (!open || changesAt === undefined) return PASS;
  if (!group.rules.mustFit) return { finding: undefined, changesAt };
  const neededMs = shadow.lastUpdateMs ?? families.longestUpdateMs(node.family);
  const tooLateAt = changesAt - neededMs + 1;
  if (tooLateAt > now) return { finding: undefined, changesAt: nextAfter(now, [changesAt, tooLateAt]) };
  const minutes = Math.ceil(neededMs / MINUTE_MS);
  const message = `the window closes before an update of about ${minutes} min would be done`;
  return { finding: found('OutsideWindow', message), changesAt };
}
