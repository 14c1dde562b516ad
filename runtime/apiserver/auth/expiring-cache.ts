import type { Clock } from '../../lib/clock.ts';

export interface ExpiringCacheOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** How long a value counts, milliseconds. */
  readonly ttlMs: number;
  /** Most entries kept; the oldest goes first. */
  readonly maxEntries: number;
}

/** Values that cost a request, kept for a short while. Who asks for a value that is on its way waits for the same request. */
export class ExpiringCache<V> {
  readonly #options: ExpiringCacheOptions;
  /** In order of insertion, which is the order of expiry. */
  readonly #entries = new Map<string, { readonly value: Promise<V>; readonly expires: number }>();

  constructor(options: ExpiringCacheOptions) {
    this.#options = options;
  }

  /** The value under `key`, loaded where there is none. A load that fails is not kept. */
  get(key: string, load: () => Promise<V>): Promise<V> {
    this.#dropExpired();
    const known = this.#entries.get(key);
    if (known) return known.value;
    const value = load();
    const entry = { value, expires: this.#options.clock.monotonic() + this.#options.ttlMs };
    this.#entries.set(key, entry);
    value.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    return value;
  }

  #dropExpired(): void {
    const now = this.#options.clock.monotonic();
    for (const [key, { expires }] of this.#entries) {
      if (expires > now && this.#entries.size < this.#options.maxEntries) return;
      this.#entries.delete(key);
    }
  }
}
