import type { Freeze, UpdatePolicy } from '../../policy/policy.ts';
import type { Families } from './families.ts';
import type { Candidate } from './gates.ts';
import type { Group } from './groups.ts';
import { NEVER, nextAfter } from './requeue.ts';
import type { ShadowView, Snapshot, WindowState } from './snapshot.ts';
import {
  atTime,
  drainBlockedFinding,
  type Finding,
  found,
  type GateResult,
  PASS,
  type Refusal,
  stopped,
  within,
} from './verdict.ts';

/** What keeps a start for a time, each with when that ends. */
interface Times {
  readonly snapshot: Pick<Snapshot, 'drainRefusals'>;
  readonly families: Families;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
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

/** What time says of all nodes of a policy alike. */
export interface GroupTimes {
  /** Whether a freeze holds. */
  readonly freeze: GateResult;
  /** Why none of them starts but those that were in time for the last trigger: no window is open. */
  readonly closed: Refusal | undefined;
  /** When the window closes that is open. */
  readonly closing: GateResult;
  /** Whether the pause after the last update that has ended still holds. */
  readonly pause: GateResult;
}

/** @param pausesUntil milliseconds since the Unix epoch */
export function timesOf({ rules, view }: Pick<Group, 'rules' | 'view'>, pausesUntil: number, now: number): GroupTimes {
  const window = windowOf(view);
  return {
    freeze: frozen(rules, now),
    closed: window && !window.open ? outsideWindow(window) : undefined,
    closing:
      window?.open && window.changesAt !== undefined ? { finding: undefined, changesAt: window.changesAt } : PASS,
    pause: pausesUntil <= now ? PASS : stopped(pausing(pausesUntil)),
  };
}

const windowOf = (view: Group['view']): WindowState | undefined => (view.kind === 'valid' ? view.window : undefined);

function outsideWindow({ changesAt }: WindowState): Refusal {
  if (changesAt === undefined) return stopped(found('OutsideWindow', 'the schedule names no time to come'));
  return stopped(found('OutsideWindow', `updates start again at ${atTime(changesAt)}`, changesAt));
}

const pausing = (until: number): Finding =>
  found('Pausing', `the next update under the policy starts after ${atTime(until)}`, until);

/** What time says of a start: the node's own pauses first, then the window, then the policy's pause. */
export function notYet(candidate: Candidate, times: Times): GateResult {
  const own = backingOff(candidate, times.now) ?? refusedLately(candidate.shadow, times);
  if (own) return stopped(own);
  const window = byWindow(candidate, times);
  return window.finding ? window : within(window, candidate.group.pause);
}

/** Whoever asks for a node has chosen the time himself (rule P9). */
function byWindow(candidate: Candidate, times: Times): GateResult {
  const { shadow, group, isAsked } = candidate;
  if (isAsked) return PASS;
  const tooLong = fittingNowhere(candidate, times);
  if (tooLong) return { finding: tooLong, changesAt: (group.closed ?? group.closing).changesAt };
  return group.closed && !isInTime(shadow, windowOf(group.view)) ? group.closed : beforeClosing(candidate, times);
}

const MINUTE_MS = 60_000;
const LONGEST_BACKOFF_MINUTES = 1440;

/**
 * After a failure a node tries again only after more than min(2^crashes, 1440) minutes. There is no pause where nobody knows when it
 * failed, and none after the failure that somebody has named on the node: the next failure is another one (rule P9).
 */
function backingOff({ info, shadow }: Candidate, now: number): Finding | undefined {
  const { node } = info;
  const { status, failedAt } = shadow;
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
function isInTime({ offeredAt }: ShadowView, window: WindowState | undefined): boolean {
  return window?.triggeredAt !== undefined && offeredAt !== undefined && offeredAt <= window.triggeredAt;
}

/** The window must not close before the node would be done, by how long its last update took, or else the longest of its kind. */
function beforeClosing(candidate: Candidate, times: Times): GateResult {
  const { rules, closing } = candidate.group;
  const { changesAt } = closing;
  const { now } = times;
  if (!rules.mustFit || changesAt === NEVER) return closing;
  const neededMs = updateMsOf(candidate, times);
  const tooLateAt = changesAt - neededMs + 1;
  if (tooLateAt > now) return { finding: undefined, changesAt: nextAfter(now, [changesAt, tooLateAt]) };
  const message = `the window closes before an update of ${about(neededMs)} would be done`;
  return { finding: found('OutsideWindow', message), changesAt };
}

/** No window ahead is open for long enough: somebody has to open a longer one, or to ask for the node. */
function fittingNowhere(candidate: Candidate, times: Times): Finding | undefined {
  const { view } = candidate.group;
  const longestMs = view.kind === 'valid' ? view.longestWindowMs : undefined;
  const neededMs = updateMsOf(candidate, times);
  if (longestMs === undefined || neededMs <= longestMs) return undefined;
  const message = `an update of ${about(neededMs)} fits into no window ahead: the longest is open for ${about(longestMs)}`;
  return found('FitsNoWindow', message);
}

/** How long its last update took, or else the longest of its kind, milliseconds. */
const updateMsOf = ({ info, shadow }: Candidate, { families }: Pick<Times, 'families'>): number =>
  shadow.lastUpdateMs ?? families.longestUpdateMs(info.node.family);

const about = (ms: number): string => `about ${Math.ceil(ms / MINUTE_MS)} min`;
