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
    return this.restMs(command) > 0;
  }

  /** How long it is too early to try the command again, milliseconds; 0 or less = not at all. */
  restMs(command: Command): number {
    return (this.#vain.get(keyOf(command))?.until ?? -Infinity) - this.#clock.monotonic();
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

/** A condition that conflicts is written at once where the cache has caught up. */
function keyOf(command: Command): string {
  const seen = command.kind === 'set-condition' ? ` ${command.resourceVersion}` : '';
  return `${command.kind} ${targetOf(command)}${seen}`;
}
