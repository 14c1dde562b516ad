/**
 * When a plan asks to be made again although nothing has happened: what controller-runtime calls requeueAfter, as an instant. Whatever is
 * decided by time says when time alone would change it, and a plan asks for the nearest of these.
 */

/** Time alone changes nothing. */
export const NEVER = Infinity;

/** The nearest instant that is still to come, or `NEVER`. What is no number never comes. */
export function nextAfter(now: number, instants: readonly number[]): number {
  let next = NEVER;
  for (const instant of instants) if (instant > now && instant < next) next = instant;
  return next;
}
