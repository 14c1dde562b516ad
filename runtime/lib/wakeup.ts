import type { Clock } from './clock.ts';

/** The wall clock may jump, so a wait for an instant checks it again after this time at the latest. */
const LONGEST_WAIT_MS = 60_000;

/** Lets a loop sleep until there is work. Any number of rings while the loop was busy ends just one wait. */
export class Wakeup {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /**
   * Waits until one of these: `ring` was called since the last wait, the instant `at` (milliseconds since the Unix epoch) may have come, the
   * signal aborts.
   */
  async wait(clock: Clock, at: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const end = (): void => over.abort();
    signal.addEventListener('abort', end, { once: true });
    this.#wake = end;
    if (this.#rung || signal.aborted) end();
    await clock.sleep(Math.min(Math.max(0, at - clock.now()), LONGEST_WAIT_MS), over.signal).catch(() => undefined);
    signal.removeEventListener('abort', end);
    this.#wake = undefined;
    this.#rung = false;
  }
}
