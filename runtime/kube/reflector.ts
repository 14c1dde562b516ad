import { type ChildAbort, childAbort, deadline, DeadlineError } from '../lib/abort.ts';
import type { Clock } from '../lib/clock.ts';
import { jitter, type Random } from '../lib/random.ts';
import { backoff } from '../lib/retry.ts';
import { listPages } from './collection.ts';
import { ApiStatusError, GoneError } from './errors.ts';
import type { KubeObject } from './objects.ts';
import type { KubeTransport, KubeWatch, WatchEvent } from './transport.ts';

export interface ReflectorOptions<T extends KubeObject, P> {
  readonly transport: KubeTransport;
  /** Path of the collection. */
  readonly path: string;
  /** Selectors. */
  readonly query?: Readonly<Record<string, string>>;
  /** What is kept of an object. The rest is freed at once. */
  readonly project: (object: T) => P;
  /** Most objects in a page. @default 500 */
  readonly pageSize?: number | undefined;
  /** Set for a collection that the cluster may lack. @default its absence is an outage like others */
  readonly optional?: OptionalCollection;
  /** resourceVersion at which the watch begins. @default that of a list, which comes first */
  readonly from?: string | undefined;
  /**
   * For how long what was read counts as current, milliseconds. A watch is opened anew within that time. What is older is listed, because a
   * watch that is open again brings what was missed by and by. @default for ever; a watch lasts 50 minutes
   */
  readonly currentForMs?: number;
  /**
   * Called with a moment at which what the consumer has by now was current, monotonic: a list was asked for, an event came, or a watch was
   * opened. A bookmark proves nothing: an API server that has lost its etcd goes on sending them.
   */
  readonly onCurrent?: (at: number) => void;
  /** Called once the consumer has a list, with the moment at which it was asked for, monotonic. */
  readonly onListed?: (askedAt: number) => void;
  readonly clock: Clock;
  readonly random: Random;
}

/** A collection whose kind the cluster may not serve yet, or may stop serving. */
interface OptionalCollection {
  /** Asked after a 404. That proves nothing by itself: it has no Status, so a proxy may have sent it. See `isServed`. */
  readonly isServed: (signal: AbortSignal) => Promise<boolean>;
  /** Milliseconds until the cluster is asked again, where it lacks the collection. */
  readonly retryMs: number;
}

export interface Projected<P> {
  /** `namespace/name`, or the name alone. */
  readonly key: string;
  readonly value: P;
}

/** What happened to a collection, in order and without gaps. A change that was missed is part of the next `replaced`. */
export type Change<P> =
  /** The whole collection at `version`. The items are there until the next change is asked for. */
  | { readonly kind: 'replaced'; readonly items: readonly Projected<P>[]; readonly version: string }
  | { readonly kind: 'changed'; readonly item: Projected<P> }
  | { readonly kind: 'deleted'; readonly key: string; readonly version: string }
  /** The cluster has no such collection, and so none of its objects. The reflector looks again by itself after `retryMs`. */
  | { readonly kind: 'absent'; readonly retryMs: number }
  /** Nothing has changed up to `version`. */
  | { readonly kind: 'bookmark'; readonly version: string }
  /** The API cannot be reached, so what is known may be old. The reflector tries again by itself after `retryMs`. */
  | { readonly kind: 'interrupted'; readonly error: unknown; readonly retryMs: number };

/** The API server ends a watch after about this time, with jitter: many watchers must not reconnect at once. */
const LASTING_MS = 3_000_000;
/** Of the time for which what was read counts as current: a watch that cannot be opened then leaves time to try again. */
const REOPENED = 2 / 3;
/** A watch that the API server has not ended by so long after its time is dead. */
const OVERDUE_MS = 10_000;
/**
 * A watch that was open for less has not lived: it counts as failed even if it ended without an error. Lists prove nothing of watches, and where
 * lists succeed but every version is called too old, pauses have to grow all the same.
 */
const SHORTEST_WATCH_MS = 1000;
const BACKOFF = { firstMs: 500, maxMs: 30_000 };

interface Watched extends Required<Pick<KubeWatch, 'signal' | 'onOpen'>> {
  readonly from: string;
  readonly lastingMs: number;
}

/** Lists a collection and then watches it, until the signal aborts. It waits out every outage of the API. */
export function listAndWatch<T extends KubeObject, P>(
  options: ReflectorOptions<T, P>,
  signal: AbortSignal,
): AsyncGenerator<Change<P>> {
  return new Reflector(options).run(signal);
}

/** The reason with which a round aborts that is to begin with a list. */
class RelistError extends Error {
  override readonly name = 'RelistError';
}

export class Reflector<T extends KubeObject, P> {
  readonly #options: ReflectorOptions<T, P>;
  /** resourceVersion at which the next watch begins; undefined = list first. */
  #version: string | undefined;
  #failures = 0;
  /** When what the consumer has was last known to be current, monotonic. */
  #currentAt = -Infinity;
  /** A list, or a watch, with the pause after it. */
  #round: ChildAbort | undefined;

  constructor(options: ReflectorOptions<T, P>) {
    this.#options = options;
    this.#version = options.from;
  }

  /** Lists the collection anew. What is under way is given up, since it may have begun before. */
  relist(): void {
    this.#round?.abort(new RelistError());
  }

  /** Once. */
  async *run(signal: AbortSignal): AsyncGenerator<Change<P>> {
    while (!signal.aborted) {
      const round = childAbort(signal);
      this.#round = round;
      try {
        yield* this.#runRound(round);
      } finally {
        round.release();
      }
      if (round.signal.reason instanceof RelistError) this.#version = undefined;
    }
  }

  async *#runRound({ signal }: ChildAbort): AsyncGenerator<Change<P>> {
    try {
      if (this.#version === undefined) yield* this.#listed(signal);
      yield* this.#watch(this.#version ?? '', signal);
    } catch (error) {
      if (signal.aborted) return;
      const change = await this.#stopped(error, signal);
      const { retryMs } = change;
      yield change;
      if (retryMs > 0) await this.#options.clock.sleep(retryMs, signal).catch(() => undefined);
    }
  }

  async *#listed(signal: AbortSignal): AsyncGenerator<Change<P>> {
    const began = this.#options.clock.monotonic();
    const items: Projected<P>[] = [];
    yield await this.#list(items, signal);
    // Who waits for the next change, for hours maybe, still holds this one.
    items.length = 0;
    if (signal.aborted) return;
    this.#note(began);
    this.#options.onListed?.(began);
  }

  async #list(items: Projected<P>[], signal: AbortSignal): Promise<Change<P>> {
    const { transport, path, query, pageSize } = this.#options;
    let version = '';
    const project = (object: T): Projected<P> => this.#projected(object);
    const request = { path, ...(query && { query }), pageSize, project, signal };
    for await (const page of listPages(transport, request)) {
      items.push(...page.items);
      version = page.metadata.resourceVersion;
    }
    this.#version = version;
    return { kind: 'replaced', items, version };
  }

  async *#watch(from: string, signal: AbortSignal): AsyncGenerator<Change<P>> {
    const { clock, random, currentForMs } = this.#options;
    const lastingMs = jitter(currentForMs === undefined ? LASTING_MS : currentForMs * REOPENED, 0.1, random);
    const limited = deadline({ clock, ms: lastingMs + OVERDUE_MS, signal });
    let opened = Infinity;
    const hasLived = (): boolean => clock.monotonic() - opened >= SHORTEST_WATCH_MS;
    const onOpen = (): void => {
      opened = clock.monotonic();
      this.#isCurrent(limited.signal);
    };
    try {
      for await (const event of this.#events({ from, lastingMs, signal: limited.signal, onOpen })) {
        const object = event.object as T;
        const change = this.#change(event.type, object);
        // Only after `#change`: an event that could not be projected is asked for again.
        this.#version = object.metadata.resourceVersion;
        yield change;
        if (change.kind !== 'bookmark') this.#isCurrent(limited.signal);
      }
      if (limited.signal.reason instanceof DeadlineError) throw new Error('the watch did not end in time');
    } finally {
      limited.release();
      if (hasLived()) this.#failures = 0;
    }
    if (!hasLived()) throw new Error('the watch ended at once');
  }

  #events({ from, lastingMs, ...how }: Watched): AsyncIterable<WatchEvent> {
    const { transport, path, query } = this.#options;
    const timeoutSeconds = String(Math.max(1, Math.round(lastingMs / 1000)));
    const position = { resourceVersion: from, allowWatchBookmarks: 'true', timeoutSeconds };
    return transport.watch({ path, query: { ...query, ...position }, ...how });
  }

  /** What comes after a gap says nothing of the gap. */
  #isCurrent(signal: AbortSignal): void {
    const { clock, currentForMs } = this.#options;
    if (signal.aborted) return;
    const now = clock.monotonic();
    if (currentForMs === undefined || now - this.#currentAt < currentForMs) this.#note(now);
    else this.relist();
  }

  #note(at: number): void {
    this.#currentAt = Math.max(this.#currentAt, at);
    this.#options.onCurrent?.(at);
  }

  #change(type: string, object: T): Change<P> {
    const version = object.metadata.resourceVersion;
    if (type === 'BOOKMARK') return { kind: 'bookmark', version };
    if (type === 'DELETED') return { kind: 'deleted', key: keyOf(object), version };
    return { kind: 'changed', item: this.#projected(object) };
  }

  #projected(object: T): Projected<P> {
    return { key: keyOf(object), value: this.#options.project(object) };
  }

  async #stopped(error: unknown, signal: AbortSignal): Promise<Change<P> & { readonly retryMs: number }> {
    const { optional } = this.#options;
    if (!optional || !(await this.#isAbsent(optional, error, signal))) {
      return { kind: 'interrupted', error, retryMs: this.#failed(error) };
    }
    this.#version = undefined;
    this.#failures = 0;
    this.#note(this.#options.clock.monotonic());
    return { kind: 'absent', retryMs: optional.retryMs };
  }

  async #isAbsent({ isServed }: OptionalCollection, error: unknown, signal: AbortSignal): Promise<boolean> {
    if (!(error instanceof ApiStatusError) || error.status.code !== 404) return false;
    return !(await isServed(signal).catch(() => true));
  }

  /** Milliseconds to wait. A version that is too old is no outage, so the first list after it is not delayed. */
  #failed(error: unknown): number {
    const gone = error instanceof GoneError;
    if (gone) this.#version = undefined;
    const wait =
      gone && this.#failures === 0 ? 0 : backoff(this.#failures, { ...BACKOFF, random: this.#options.random });
    this.#failures++;
    return wait;
  }
}

/** Key of an object in a cache: `namespace/name`, or the name alone. A text that is put together in other ways keeps its parts, too. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : [namespace, name].join('/');
}
