import type { Clock } from './clock.ts';
import type { Random } from './random.ts';
import { backoff } from './retry.ts';

/** How long an item waits, milliseconds: doubling each time, with jitter. Where both are the same it is a pace, which is kept as it is. */
export interface Pause {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * After what found another state than the cache shows, and is asked for by each plan until the cache has caught up. It is behind by milliseconds as
 * a rule; one that is behind by minutes costs six requests a minute and item.
 */
export const STALE: Pause = { firstMs: 100, maxMs: 10_000 };

/** An item that was not added again in this time after its pause is forgotten. */
const FORGOTTEN_MS = 60_000;

interface Limited {
  readonly pause: Pause;
  /** In a row, under the same pause and of the same version. */
  readonly attempts: number;
  /** Monotonic. */
  readonly until: number;
  readonly version: string | undefined;
}

/** Each item may be tried ever less often, until it is forgotten: client-go's ItemExponentialFailureRateLimiter. */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #items = new Map<string, Limited>();

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Whether it is too early to try the item again. */
  limits(item: string): boolean {
    return this.restMs(item) > 0;
  }

  /**
   * How long it is too early to try the item again, milliseconds; 0 or less = not at all.
   * @param versionOf what the item is now: it does not wait because of another version
   */
  restMs(item: string, versionOf?: () => string): number {
    const limited = this.#items.get(item);
    if (!limited) return 0;
    const isOther = limited.version !== undefined && versionOf !== undefined && limited.version !== versionOf();
    return isOther ? 0 : limited.until - this.#clock.monotonic();
  }

  /** The item was tried, and is to wait. @param version waits alone; undefined = every version */
  add(item: string, pause: Pause, version?: string): void {
    const now = this.#clock.monotonic();
    for (const [known, { until }] of this.#items) if (now > until + FORGOTTEN_MS) this.#items.delete(known);
    const before = this.#items.get(item);
    const attempts = before?.pause === pause && before.version === version ? before.attempts : 0;
    const isPace = pause.firstMs === pause.maxMs;
    const until = now + (isPace ? pause.firstMs : backoff(attempts, { ...pause, random: this.#random }));
    this.#items.set(item, { pause, attempts: attempts + 1, until, version });
  }

  forget(item: string): void {
    this.#items.delete(item);
  }

  clear(): void {
    this.#items.clear();
  }
}
