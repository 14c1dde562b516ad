import type { Basics } from '../../../lib/basics.ts';
import { HOUR_MS, instantOf } from '../../../lib/clock.ts';
import { backoff } from '../../../lib/retry.ts';
import { Wakeup } from '../../../lib/wakeup.ts';
import { type Fact, isOfNodes, joined } from '../../../api/notifications/fact.ts';
import type { NotificationMetrics } from '../notification-metrics.ts';
import type { DeliveryOutcome } from './outcome.ts';

/** Facts that may wait for one target. The oldest of nodes makes room, and the oldest of all where none is of nodes. */
export const CAPACITY = 200;
/** After an attempt that may succeed later. */
const PAUSE = { firstMs: 1000, maxMs: 300_000 };
/** A fact of nodes that is older than this is not tried again. */
export const GIVE_UP_MS = 6 * HOUR_MS;
/** Any other: a rollout that is halted on a Friday is news on a Monday. */
export const LASTING_MS = 72 * HOUR_MS;

interface OutboxOptions extends Basics {
  /** Name of the target. */
  readonly target: string;
  /** Tries once. Never rejects. */
  readonly deliver: (fact: Fact, signal: AbortSignal) => Promise<DeliveryOutcome>;
  /** Called after the waiting facts have changed. */
  readonly onChange: () => void;
  readonly metrics: Pick<NotificationMetrics, 'ended' | 'waiting' | 'failing'>;
}

/** The facts that wait for one target. They are sent one after the other, in order; what is the same of several nodes, as one. A slow target delays no other. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #wakeup = new Wakeup();
  #waiting: readonly Fact[];
  /** The last that the target may have got. */
  #tried: Fact | undefined;

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
    this.#set(this.#with(fact));
    if (this.#waiting.length > CAPACITY) this.#drop(this.#waiting.find(isOfNodes) ?? this.#waiting[0]);
    this.#wakeup.ring();
  }

  #with(fact: Fact): readonly Fact[] {
    for (const [index, one] of this.#waiting.entries()) {
      const both = one === this.#tried ? undefined : joined(one, fact);
      if (both) return this.#waiting.with(index, both);
    }
    return [...this.#waiting, fact];
  }

  #drop(fact: Fact | undefined): void {
    if (!fact) return;
    const { target, logger, metrics } = this.#options;
    this.#remove(fact);
    metrics.ended(target, 'dropped');
    logger.warn('notification dropped: too many wait for its target', { target, kind: fact.kind, id: fact.id });
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
    this.#tried = fact;
    const outcome = await deliver(fact, signal);
    if (signal.aborted && outcome.kind !== 'accepted') return undefined;
    metrics.failing(target, outcome.kind !== 'accepted');
    const about = { target, kind: fact.kind, id: fact.id };
    if (outcome.kind === 'accepted') {
      logger.info('notification sent', about);
      this.#end(fact, 'sent');
      return undefined;
    }
    const isTooOld = clock.now() - (instantOf(fact.time) ?? 0) > (isOfNodes(fact) ? GIVE_UP_MS : LASTING_MS);
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
