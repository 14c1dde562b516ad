import type { Freeze, UpdatePolicy } from '../../../api/policy/policy.ts';
import { type GateResult, nextAfter, PASS, type Stopped, stoppedBy } from '../facts/requeue.ts';
import type { PolicyView, WindowState } from '../facts/policies.ts';
import { atTime, type Finding, found } from '../facts/verdict.ts';

/** What time decides for all nodes of a policy alike. */
export interface GroupTimes {
  /** Whether a freeze holds, and whether one does that lets no expedited release through. */
  readonly freeze: GateResult;
  readonly freezeForAll: GateResult;
  /** Why no node starts while no window is open, except for nodes that were offered their update before the last trigger. */
  readonly closed: Stopped | undefined;
  /** When the window closes that is open. */
  readonly closing: GateResult;
  /** Whether the pause after the last update that has ended still holds. */
  readonly pause: GateResult;
}

interface Ruled {
  readonly rules: UpdatePolicy;
  readonly view: PolicyView;
}

/** @param pausesUntil milliseconds since the Unix epoch */
export function timesOf({ rules, view }: Ruled, pausesUntil: number, now: number): GroupTimes {
  const window = windowOf(view);
  return {
    freeze: frozen(rules, now),
    freezeForAll: frozen({ freezes: rules.freezes.filter(({ exceptExpedited }) => !exceptExpedited) }, now),
    closed: window && !window.open ? outsideWindow(window) : undefined,
    closing:
      window?.open && window.changesAt !== undefined ? { finding: undefined, changesAt: window.changesAt } : PASS,
    pause: pausesUntil <= now ? PASS : stoppedBy(pausing(pausesUntil)),
  };
}

/** Whether a freeze of the policy holds. Of several, the one that began first is named. */
export function frozen({ freezes }: Pick<UpdatePolicy, 'freezes'>, now: number): GateResult {
  if (freezes.length === 0) return PASS;
  let current: Freeze | undefined;
  for (const freeze of freezes) {
    const holds = freeze.from <= now && now < freeze.to;
    if (holds && (!current || freeze.from < current.from)) current = freeze;
  }
  if (current) return stoppedBy(found('Frozen', `${current.reason}, until ${atTime(current.to)}`, current.to));
  const changesAt = nextAfter(
    now,
    freezes.map(({ from }) => from),
  );
  return { finding: undefined, changesAt };
}

export const windowOf = (view: PolicyView): WindowState | undefined =>
  view.kind === 'valid' ? view.window : undefined;

function outsideWindow({ changesAt }: WindowState): Stopped {
  if (changesAt === undefined) return stoppedBy(found('OutsideWindow', 'the schedule names no time to come'));
  return stoppedBy(found('OutsideWindow', `updates start again at ${atTime(changesAt)}`, changesAt));
}

const pausing = (until: number): Finding =>
  found('Pausing', `the next update under the policy starts after ${atTime(until)}`, until);
