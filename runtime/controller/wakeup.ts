import type { Clock } from '../lib/clock.ts';

/** The wall clock may jump: no wait for an instant is longer than this before it is looked at again. */
const LONGEST_WAIT_MS = 60_000;

/** Collects reasons to look again while somebody is busy: however many there were, one look covers them. */
export class Wakeup {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /**
   * Until it has rung since the last wait, the instant `at` (milliseconds since the Unix epoch) may have come, or the signal aborts.
   * Returns whether it rang.
   */
  async wait(clock: Clock, at: number, signal: AbortSignal): Promise<boolean> {
    const over = new AbortController();
    const end = (): void => over.abort();
    signal.addEventListener('abort', end, { once: true });
    this.#wake = end;
    if (this.#rung || signal.aborted) end();
    await clock.sleep(Math.min(Math.max(0, at - clock.now()), LONGEST_WAIT_MS), over.signal).catch(() => undefined);
    signal.removeEventListener('abort', end);
    this.#wake = undefined;
    const rang = this.#rung;
    this.#rung = false;
    return rang;
  }
}
