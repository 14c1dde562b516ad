import type { Finding } from './verdict.ts';

/**
 * When a plan has to be made again although nothing has happened: controller-runtime's requeueAfter, as an instant. Each decision that depends on
 * time also says when time alone would change it: `changesAt`. The next plan is made at the nearest of these instants.
 */

/** Time alone changes nothing. */
export const NEVER = Infinity;

/** The nearest instant after `now`, or `NEVER`. NaN never comes. */
export function nextAfter(now: number, instants: readonly number[]): number {
  let next = NEVER;
  for (const instant of instants) if (instant > now && instant < next) next = instant;
  return next;
}

/** Whether something stops a node, and when time alone changes that. */
export interface GateResult {
  /** Undefined = pass. */
  readonly finding: Finding | undefined;
  readonly changesAt: number;
}

/** A result that stops. */
export type Stopped = GateResult & { readonly finding: Finding };

export const PASS: GateResult = { finding: undefined, changesAt: NEVER };

/** Time changes this result at the instant that the finding names, or never. */
export const stoppedBy = (finding: Finding): Stopped => ({ finding, changesAt: finding.until ?? NEVER });
