import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { backoff } from '../lib/retry.ts';
import type { Command } from './plan/commands.ts';
import { targetOf } from './plan/withheld.ts';

/** A cache is behind by milliseconds as a rule. One that is behind by minutes costs six requests a minute and command. */
const PAUSE = { firstMs: 100, maxMs: 10_000 };
/** Who was not asked for again in this time after its pause has caught up. */
const FORGOTTEN_MS = 60_000;

/**
 * Commands that found another state than the cache shows are asked for by each plan until the cache has caught up, and plans are made with every
 * change of the cluster. So each may be tried ever less often, as client-go's ItemExponentialFailureRateLimiter has it.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #random: Random;
  /** By command and target. `until` is monotonic. */
  readonly #vain = new Map<string, { readonly attempts: number; readonly until: number }>();

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Whether it is too early to try the command again. */
  limits(command: Command): boolean {
    const known = this.#vain.get(keyOf(command));
    return known !== undefined && this.#clock.monotonic() < known.until;
  }

  /** The command was tried in vain. */
  add(command: Command): void {
    const now = this.#clock.monotonic();
    for (const [key, { until }] of this.#vain) if (now > until + FORGOTTEN_MS) this.#vain.delete(key);
    const key = keyOf(command);
    const attempts = this.#vain.get(key)?.attempts ?? 0;
    const until = now + backoff(attempts, { ...PAUSE, random: this.#random });
    this.#vain.set(key, { attempts: attempts + 1, until });
  }

  forget(command: Command): void {
    this.#vain.delete(keyOf(command));
  }
}

const keyOf = (command: Command): string => `${command.kind} ${targetOf(command)}`;
