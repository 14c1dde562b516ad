/**
 * When a plan asks to be made again although nothing has happened: controller-runtime's requeueAfter, as an instant. Each decision that
 * depends on time also says when time alone would change it. A plan is made again at the nearest of these instants.
 */

/** Time alone changes nothing. */
export const NEVER = Infinity;

/** The nearest instant that is still to come, or `NEVER`. What is no number never comes. */
export function nextAfter(now: number, instants: readonly number[]): number {
  let next = NEVER;
  for (const instant of instants) if (instant > now && instant < next) next = instant;
  return next;
}
