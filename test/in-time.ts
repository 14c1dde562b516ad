import { DeadlineError, unlessAborted, withDeadline } from '../runtime/lib/abort.ts';
import { systemClock } from '../runtime/lib/clock.ts';

/** Longer than anything takes that does come, on a machine that has much else to do; far shorter than what Jest gives a test. */
const PATIENCE_MS = 30_000;

/**
 * What `awaited` gives. For whatever a broken product may never give, where real time passes: a test that only waits hangs instead.
 * @throws Error after half a minute without it, or after `ms`, which names `what`
 */
export async function inTime<T>(what: string, awaited: Promise<T>, ms = PATIENCE_MS): Promise<T> {
  try {
    return await withDeadline({ clock: systemClock, ms }, (signal) => unlessAborted(awaited, signal));
  } catch (cause) {
    if (!(cause instanceof DeadlineError)) throw cause;
    throw new Error(`not within ${ms / 1000} s: ${what}`, { cause });
  }
}

/** Looks every few milliseconds until `holds` says so. For what nobody tells. @throws as `inTime` does */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const over = systemClock.monotonic() + PATIENCE_MS;
  while (!(await holds())) {
    if (systemClock.monotonic() > over) throw new Error(`not within ${PATIENCE_MS / 1000} s: ${what}`);
    await systemClock.sleep(5);
  }
}
