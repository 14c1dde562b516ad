import { hasChanged, isDefinite } from '../../kube/errors.ts';
import { isAsNewAs } from '../../kube/objects.ts';
import { type Clock, momentOf } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import { Wakeup } from '../../lib/wakeup.ts';
import { WriteLimiter } from './write-limiter.ts';

/** A write to one thing. */
export interface Write {
  /** Of two writes with one key, the second waits until the first is done. */
  readonly key: string;
  /** resourceVersion of the view that it was decided on. A view from before the last write with this key is not acted on. @default not known */
  readonly seen?: string | undefined;
  /** Where the state has changed since, only this rests: what differs is tried at once. @default `seen` */
  readonly version?: string;
  /** @returns the resourceVersion that it has made; undefined where views do not tell whether they are from before @throws what the API server answers */
  readonly write: (signal: AbortSignal) => Promise<string | undefined>;
}

/** A write that the newest plan wants. */
interface Wanted extends Omit<Write, 'version'> {
  readonly version: string | undefined;
  /** When it was first wanted of this version, monotonic. */
  readonly since: number;
}

interface WriteQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** What is written, e.g. `its ledger`. */
  readonly what: string;
  /** Writes that may be under way. While that many hang, the others wait. */
  readonly atOnce: number;
  /** Milliseconds between the beginnings of two writes. @default 0 */
  readonly paceMs?: number;
  /** Milliseconds between two writes with one key. @default 0 */
  readonly restMs?: number;
  /** Milliseconds for which a view must have been the newest one: who is at work on the object is not met. @default 0 */
  readonly quietMs?: number;
  /** Called when what is refused has changed. */
  readonly onRefusals?: () => void;
}

/**
 * Writes in the background what the newest plan wants: `replace` drops all that has not begun. Its outcomes are those of every write: taken, moved,
 * refused, not answered (rule L9).
 */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  readonly #wakeup = new Wakeup();
  /** By key, what the newest plan wants. */
  #wanted: ReadonlyMap<string, Wanted> = new Map();
  #pending: readonly Wanted[] = [];
  readonly #underWay = new Map<string, Promise<void>>();
  /** By key, the resourceVersion that the last write made. */
  readonly #made = new Map<string, string>();
  #limiter: WriteLimiter;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
    this.#limiter = this.#newLimiter();
  }

  /** Why writes were not taken, in words for people, by key. */
  get refused(): ReadonlyMap<string, string> {
    const refusals = this.#limiter.refusals(momentOf(this.#options.clock));
    return new Map([...refusals].map(([key, { message }]) => [key, message]));
  }

  /** What a plan wants now. Nothing is left to write of what it leaves out: that has landed without an answer, or is no longer needed. */
  replace(wanted: readonly Write[]): void {
    const keys = new Map(wanted.map((write) => [write.key, this.#seen(write)]));
    this.#wanted = keys;
    const dropped = [...this.refused.keys()].filter((key) => !keys.has(key) && !this.#underWay.has(key));
    for (const key of dropped) this.#limiter.forget(key);
    if (dropped.length > 0) this.#options.onRefusals?.();
    for (const key of this.#made.keys()) if (!keys.has(key) && !this.#underWay.has(key)) this.#made.delete(key);
    this.#pending = [...keys.values()].filter((write) => !this.#isOutdated(write));
    if (this.#pending.length > 0) this.#wakeup.ring();
  }

  /** For one term as leader: works until the signal aborts and what is under way is done. What came before is forgotten. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, paceMs = 0 } = this.#options;
    const underWay = this.#underWay;
    this.#wanted = new Map();
    this.#pending = [];
    this.#made.clear();
    this.#limiter = this.#newLimiter();
    while (!signal.aborted) {
      const next = this.#take();
      if (next === undefined) {
        await this.#wakeup.wait(clock, clock.now() + this.#shortestRestMs, signal);
        continue;
      }
      const done = this.#attempt(next, signal).finally(() => {
        underWay.delete(next.key);
        this.#wakeup.ring();
      });
      underWay.set(next.key, done);
      if (paceMs > 0) await clock.sleep(paceMs, signal).catch(() => undefined);
    }
    await Promise.all(underWay.values());
  }

  isUnderWay(key: string): boolean {
    return this.#underWay.has(key);
  }

  #newLimiter(): WriteLimiter {
    const { what: wanted, ...access } = this.#options;
    return new WriteLimiter({ ...access, wanted });
  }

  #seen(write: Write): Wanted {
    const { key, seen, version = seen } = write;
    const known = this.#wanted.get(key);
    const { since } = known && known.version === version ? known : { since: this.#options.clock.monotonic() };
    return { ...write, version, since };
  }

  /** One that is gone, and is to be made anew, is not seen either, which is no reason to wait. */
  #isOutdated({ key, seen }: Wanted): boolean {
    const made = this.#made.get(key);
    return made !== undefined && seen !== undefined && !isAsNewAs(seen, made);
  }

  async #attempt({ key, seen, version, write }: Wanted, signal: AbortSignal): Promise<void> {
    const wasRefused = this.refused.has(key);
    try {
      const made = await write(signal);
      if (made !== undefined && made === seen) throw new Error('the served CRD drops what was written');
      this.#took(key, made, version);
      if (wasRefused) this.#options.onRefusals?.();
    } catch (error) {
      if (signal.aborted) return;
      // Somebody else has written it. The next plan is made on that.
      if (hasChanged(error)) this.#limiter.moved(key, version);
      else this.#refuse(key, error);
    }
  }

  #took(key: string, made: string | undefined, version: string | undefined): void {
    if (made === undefined) return this.#limiter.moved(key, version);
    this.#made.set(key, made);
    this.#pending = this.#pending.filter((one) => one.key !== key || !this.#isOutdated(one));
    this.#limiter.taken(key);
  }

  #refuse(key: string, error: unknown): void {
    const { logger, what, onRefusals } = this.#options;
    const again = this.#wanted.get(key);
    if (again) this.#pending = [...this.#pending.filter((one) => one !== again), again];
    this.#limiter.refused(key, error);
    logger.warn('not written', { what, key, isDefinite: isDefinite(error), error });
    onRefusals?.();
  }

  #take(): Wanted | undefined {
    const underWay = this.#underWay;
    if (underWay.size >= this.#options.atOnce) return undefined;
    const next = this.#pending.find((write) => !underWay.has(write.key) && this.#restMs(write) <= 0);
    this.#pending = this.#pending.filter((one) => one !== next);
    return next;
  }

  /** Rounded up: a timer for 0.4 ms fires early, and the loop would spin until the time has come. */
  #restMs({ key, version, since }: Wanted): number {
    const { clock, quietMs = 0 } = this.#options;
    return Math.ceil(Math.max(this.#limiter.restMs(key, version), since + quietMs - clock.monotonic()));
  }

  /** Milliseconds until the first of the resting writes may begin. */
  get #shortestRestMs(): number {
    return Math.min(...this.#pending.map((write) => this.#restMs(write)).filter((rest) => rest > 0));
  }
}
