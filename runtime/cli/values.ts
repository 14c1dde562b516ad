import type { Verdict } from '../controller/plan/verdict.ts';
import { rfc3339 } from '../lib/clock.ts';

/** Values as programs read them: times are RFC 3339 in place of milliseconds, and what nobody knows is left out. */

/** @param instant milliseconds since the Unix epoch; one that nobody remembers is 0 or infinite */
export function timeValue(instant: number | undefined): string | undefined {
  return instant === undefined || instant === 0 || !Number.isFinite(instant) ? undefined : rfc3339(instant);
}

export function verdictValue({ since, until, newer, ...verdict }: Verdict): object {
  return {
    ...verdict,
    since: timeValue(since),
    until: timeValue(until),
    ...(newer && { newer: { reason: newer.reason, message: newer.message } }),
  };
}
