import { systemClock } from '../../runtime/lib/clock.ts';
import type { VirtualClock } from '../../lab/sim/clock.ts';

const PATIENCE_MS = 10_000;

/**
 * Moves the clock on by `stepMs` again and again until it holds. For what waits for files or sockets, which take real time.
 * @throws Error after ten seconds of that, which names `what`
 */
export async function until(
  clock: VirtualClock,
  holds: () => boolean | Promise<boolean>,
  stepMs = 0,
  what = 'what is waited for',
): Promise<void> {
  const end = systemClock.monotonic() + PATIENCE_MS;
  while (!(await holds())) {
    if (systemClock.monotonic() > end) throw new Error(`not within ${PATIENCE_MS / 1000} s: ${what}`);
    await clock.advance(stepMs);
  }
}
