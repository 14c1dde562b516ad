import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import { backoff } from '../../lib/retry.ts';
import { Wakeup } from '../../lib/wakeup.ts';
import type { NotificationMetrics } from '../notification-metrics.ts';
import type { Disturbed } from './disturbed.ts';

/** A silence that was made, or that is not to be made any more. */
export interface Silenced {
  /** Of Alertmanager; absent where it does not want to make one. */
  readonly id?: string;
  /** When it ends by itself, milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/** By UID of the node. */
export type SilencedNodes = ReadonlyMap<string, Silenced>;

/** What came of a request. */
export type Silencing =
  { readonly kind: 'done'; readonly id?: string } | { readonly kind: 'refused' | 'later'; readonly why: string };

interface SilencesOptions {
  /** Of the Alertmanager. */
  readonly name: string;
  readonly durationMs: () => number;
  /** Each tries once, and never rejects. */
  readonly create: (node: string, signal: AbortSignal) => Promise<Silencing>;
  readonly expire: (id: string, signal: AbortSignal) => Promise<Silencing>;
  /** What was made has changed. */
  readonly onChange: () => void;
  readonly metrics: Pick<NotificationMetrics, 'silenced'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const PAUSE = { firstMs: 1000, maxMs: 60_000 };

/** Silences around reboots at one Alertmanager. No update waits for them. */
export class Silences {
  readonly #options: SilencesOptions;
  readonly #wakeup = new Wakeup();
  readonly #made: Map<string, Silenced>;
  /** Undefined before the first plan of this term. */
  #disturbed: Disturbed | undefined;

  /** @param made by a process before */
  constructor(options: SilencesOptions, made: SilencedNodes) {
    this.#options = options;
    this.#made = new Map(made);
  }

  get made(): SilencedNodes {
    return this.#made;
  }

  observe(disturbed: Disturbed): void {
    this.#disturbed = disturbed;
    this.#wakeup.ring();
  }

  /** Until the signal aborts. What was made then stays, and ends by itself unless the next leader ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      const isDone = await this.#round(signal);
      failures = isDone ? 0 : failures + 1;
      // What is tried again waits for its pause: a plan that comes meanwhile would be asked for the same.
      if (!isDone) await clock.sleep(backoff(failures - 1, { ...PAUSE, random }), signal).catch(() => undefined);
      else await this.#wakeup.wait(clock, Infinity, signal);
    }
  }

  /** @returns whether nothing is left to be tried again */
  async #round(signal: AbortSignal): Promise<boolean> {
    const disturbed = this.#disturbed;
    if (!disturbed) return true;
    let isDone = true;
    for (const [uid, silenced] of this.#made) {
      if (!signal.aborted && disturbed.isOver(uid)) isDone = (await this.#end(uid, silenced, signal)) && isDone;
    }
    for (const [uid, node] of disturbed.begun) {
      if (!signal.aborted && !this.#made.has(uid)) isDone = (await this.#begin(uid, node, signal)) && isDone;
    }
    return isDone;
  }

  async #begin(uid: string, node: string, signal: AbortSignal): Promise<boolean> {
    const { name, create, durationMs, clock, logger, metrics } = this.#options;
    const endsAt = clock.now() + durationMs();
    const result = await create(node, signal);
    if (signal.aborted && result.kind !== 'done') return true;
    metrics.silenced(name, result.kind === 'done' ? 'created' : 'failed');
    if (result.kind !== 'done') logger.warn('silence not made', { alertmanager: name, node, why: result.why });
    if (result.kind === 'later') return false;
    this.#made.set(uid, result.kind === 'done' && result.id !== undefined ? { id: result.id, endsAt } : { endsAt });
    this.#options.onChange();
    return true;
  }

  async #end(uid: string, { id, endsAt }: Silenced, signal: AbortSignal): Promise<boolean> {
    const { name, expire, clock, logger, metrics } = this.#options;
    const isStanding = id !== undefined && clock.now() < endsAt;
    const result = isStanding ? await expire(id, signal) : undefined;
    if (signal.aborted) return true;
    if (result) metrics.silenced(name, result.kind === 'done' ? 'expired' : 'failed');
    if (result && result.kind !== 'done') logger.warn('silence not ended', { alertmanager: name, why: result.why });
    if (result?.kind === 'later') return false;
    this.#made.delete(uid);
    this.#options.onChange();
    return true;
  }
}
