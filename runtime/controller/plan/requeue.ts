import type { Finding } from './verdict.ts';

/**
 * When a plan has to be made again although nothing has happened: controller-runtime's requeueAfter, as an instant. Each decision that depends on
 * time also says when time alone would change it. The next plan is made at the nearest of these instants.
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
  /** When time alone changes it. */
  readonly changesAt: number;
}

/** A result that stops. */
export type Refusal = GateResult & { readonly finding: Finding };

export const PASS: GateResult = { finding: undefined, changesAt: NEVER };

/** The result of two gates in a row: `outer` passes, so `inner` decides. It changes when time changes either. */
export function within(outer: GateResult, inner: GateResult): GateResult {
  if (inner === PASS) return outer;
  return outer.changesAt < inner.changesAt ? { finding: inner.finding, changesAt: outer.changesAt } : inner;
}

/** Time changes this result at the instant that the finding names, or never. */
export const stopped = (finding: Finding): Refusal => ({ finding, changesAt: finding.until ?? NEVER });
