import type { Clock } from '../../../runtime/lib/clock.ts';

/** Between two bookmarks, milliseconds; the API server's own interval. */
const INTERVAL_MS = 60_000;

/** One timer for the bookmarks of all watches, and none while nobody watches. */
export class Bookmarks {
  readonly #clock: Clock;
  readonly #watches = new Set<{ bookmark(): void }>();
  #stop: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(watch: { bookmark(): void }): void {
    this.#watches.add(watch);
    if (this.#stop) return;
    this.#stop = new AbortController();
    void this.#run(this.#stop.signal);
  }

  delete(watch: { bookmark(): void }): void {
    this.#watches.delete(watch);
    if (this.#watches.size > 0) return;
    this.#stop?.abort();
    this.#stop = undefined;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(INTERVAL_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      for (const watch of this.#watches) watch.bookmark();
    }
  }
}
