import { type Clock, instantOf } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/log.ts';
import type { Random } from '../../../lib/random.ts';
import { backoff } from '../../../lib/retry.ts';
import { Wakeup } from '../../../lib/wakeup.ts';
import type { Fact } from '../../../api/notifications/fact.ts';
import type { NotificationMetrics } from '../notification-metrics.ts';
import type { DeliveryOutcome } from './outcome.ts';

/** Facts that may wait for one target. The oldest makes room for the newest. */
export const CAPACITY = 200;
/** After an attempt that may succeed later. */
const PAUSE = { firstMs: 1000, maxMs: 300_000 };
/** A fact that is older than this is not tried again. */
export const GIVE_UP_MS = 6 * 3_600_000;

interface OutboxOptions {
  /** Name of the target. */
  readonly target: string;
  /** Tries once. Never rejects. */
  readonly deliver: (fact: Fact, signal: AbortSignal) => Promise<DeliveryOutcome>;
  /** Called after the waiting facts have changed. */
  readonly onChange: () => void;
  readonly metrics: Pick<NotificationMetrics, 'ended' | 'waiting' | 'failing'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The facts that wait for one target. They are sent one after the other, in order. A slow target delays no other. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #wakeup = new Wakeup();
  #waiting: readonly Fact[];

  /** @param waiting what an earlier process has not sent */
  constructor(options: OutboxOptions, waiting: readonly Fact[]) {
    this.#options = options;
    this.#waiting = waiting;
    options.metrics.waiting(options.target, waiting.length);
  }

  get waiting(): readonly Fact[] {
    return this.#waiting;
  }

  add(fact: Fact): void {
    const { target, logger, metrics } = this.#options;
    const [oldest] = this.#waiting;
    if (oldest && this.#waiting.length >= CAPACITY) {
      this.#remove(oldest);
      metrics.ended(target, 'dropped');
      logger.warn('notification dropped: too many wait for its target', { target, kind: oldest.kind, id: oldest.id });
    }
    this.#set([...this.#waiting, fact]);
    this.#wakeup.ring();
  }

  /** Works until the signal aborts. What waits then stays. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      const [fact] = this.#waiting;
      if (!fact) {
        await this.#wakeup.wait(clock, Infinity, signal);
        continue;
      }
      const pauseMs = await this.#try(fact, failures, signal);
      failures = pauseMs === undefined ? 0 : failures + 1;
      await clock.sleep(pauseMs ?? 0, signal).catch(() => undefined);
    }
  }

  /** @returns milliseconds until the next attempt; undefined where the fact waits no more */
  async #try(fact: Fact, failures: number, signal: AbortSignal): Promise<number | undefined> {
    const { target, deliver, clock, random, logger, metrics } = this.#options;
    const outcome = await deliver(fact, signal);
    if (signal.aborted && outcome.kind !== 'accepted') return undefined;
    metrics.failing(target, outcome.kind !== 'accepted');
    const about = { target, kind: fact.kind, id: fact.id };
    if (outcome.kind === 'accepted') {
      logger.info('notification sent', about);
      this.#end(fact, 'sent');
      return undefined;
    }
    const isTooOld = clock.now() - (instantOf(fact.time) ?? 0) > GIVE_UP_MS;
    if (outcome.kind === 'refused' || isTooOld) {
      logger.error('notification given up', { ...about, why: outcome.why });
      this.#end(fact, 'failed');
      return undefined;
    }
    const pauseMs = Math.max(outcome.afterMs, backoff(failures, { ...PAUSE, random }));
    logger.warn('notification not accepted yet', { ...about, why: outcome.why, retryMs: Math.round(pauseMs) });
    return pauseMs;
  }

  /** It may have been dropped meanwhile. */
  #end(fact: Fact, result: 'sent' | 'failed'): void {
    if (!this.#waiting.includes(fact)) return;
    this.#options.metrics.ended(this.#options.target, result);
    this.#remove(fact);
  }

  #remove(fact: Fact): void {
    this.#set(this.#waiting.filter((one) => one !== fact));
  }

  #set(waiting: readonly Fact[]): void {
    const { target, metrics, onChange } = this.#options;
    this.#waiting = waiting;
    metrics.waiting(target, waiting.length);
    onChange();
  }
}
