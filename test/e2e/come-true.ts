import { systemClock } from '../../runtime/lib/clock.ts';

const PAUSE_MS = 200;

/** Resolves when `check` holds, however long that takes on a busy machine: the test's own time is the limit. */
export async function comesTrue(check: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await check())) await systemClock.sleep(PAUSE_MS);
}
