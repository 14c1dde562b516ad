import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';

export interface ExpiringCacheOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly random: Random;
  /** How long a value counts at most, milliseconds. */
  readonly ttlMs: number;
  /** Most entries kept; the oldest goes first. */
  readonly maxEntries: number;
}

/** Part of its time that a value may lose. Values that came together, as those of a whole fleet do, then do not go together for ever. */
const SPREAD = 1 / 4;

/** Values that cost a request, kept for a short while. Who asks for a value that is on its way waits for the same request. */
export class ExpiringCache<V> {
  readonly #options: ExpiringCacheOptions;
  /** In order of insertion, which is about the order of expiry. */
  readonly #entries = new Map<string, { readonly value: Promise<V>; readonly expires: number }>();

  constructor(options: ExpiringCacheOptions) {
    this.#options = options;
  }

  /** The value under `key`, loaded where there is none. A load that fails is not kept. */
  get(key: string, load: () => Promise<V>): Promise<V> {
    const { clock, random, ttlMs } = this.#options;
    const now = clock.monotonic();
    this.#dropExpired(now);
    const known = this.#entries.get(key);
    if (known && known.expires > now) return known.value;
    const value = load();
    const entry = { value, expires: now + ttlMs * (1 - SPREAD * random()) };
    // Taken out first: a key that is set again keeps its old place.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    value.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    return value;
  }

  #dropExpired(now: number): void {
    for (const [key, { expires }] of this.#entries) {
      if (expires > now && this.#entries.size < this.#options.maxEntries) return;
      this.#entries.delete(key);
    }
  }
}
