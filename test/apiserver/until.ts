import { systemClock } from '../../runtime/lib/clock.ts';
import type { VirtualClock } from '../../sim/clock.ts';

const PATIENCE_MS = 10_000;

/**
 * Moves the clock on by `stepMs` again and again until it holds. For what waits for files or sockets, which take real time.
 * @throws Error after ten seconds of that
 */
export async function until(clock: VirtualClock, holds: () => Promise<boolean>, stepMs = 0): Promise<void> {
  const end = systemClock.monotonic() + PATIENCE_MS;
  while (!(await holds())) {
    if (systemClock.monotonic() > end) throw new Error('it does not come to hold');
    await clock.advance(stepMs);
  }
}
