import { systemClock } from '../../runtime/lib/clock.ts';

const PATIENCE_MS = 10_000;

/** Asks again until `check` holds; controllers take their time. @throws what `check` last threw */
export async function eventually<T>(check: () => Promise<T> | T, patienceMs = PATIENCE_MS): Promise<T> {
  const deadline = systemClock.monotonic() + patienceMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (systemClock.monotonic() > deadline) throw error;
      await systemClock.sleep(20);
    }
  }
}
