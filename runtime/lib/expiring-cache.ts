import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

interface ExpiringCacheOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly random: Random;
  /** How long a value counts at most, milliseconds. */
  readonly ttlMs: number;
  /** Most entries kept; the oldest goes first. */
  readonly maxEntries: number;
}

/** A value expires earlier by up to this part of its time: values that were loaded together, as a whole fleet's are, do not expire together. */
const SPREAD = 1 / 4;

/** Values that cost a request, kept for a short while. A caller that asks for a value while it is loaded waits for the same load. */
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
    const known = this.#entries.get(key);
    if (known && known.expires > now) return known.value;
    this.#dropExpired(now);
    const value = load();
    const entry = { value, expires: now + ttlMs * (1 - SPREAD * random()) };
    // Deleted first, because a Map keeps the old place of a key that is set again.
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
