import type { Clock } from '../lib/clock.ts';
import { jitter, type Random } from '../lib/random.ts';
import { backoff } from '../lib/retry.ts';
import { listPages } from './collection.ts';
import { ApiStatusError, GoneError } from './errors.ts';
import type { KubeObject } from './objects.ts';
import type { KubeTransport } from './transport.ts';

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
  /** The whole collection at `version`. */
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
const WATCH_SECONDS = 3000;
/** A watch that ends within this time without an event counts as failed, even if it ended without an error. */
const SHORTEST_WATCH_MS = 1000;
const BACKOFF = { firstMs: 500, maxMs: 30_000 };

/** Lists a collection and then watches it, until the signal aborts. It waits out every outage of the API. */
export function listAndWatch<T extends KubeObject, P>(
  options: ReflectorOptions<T, P>,
  signal: AbortSignal,
): AsyncGenerator<Change<P>> {
  return new Reflector(options, signal).run();
}

class Reflector<T extends KubeObject, P> {
  readonly #options: ReflectorOptions<T, P>;
  readonly #signal: AbortSignal;
  /** resourceVersion at which the next watch begins; undefined = list first. */
  #version: string | undefined;
  #failures = 0;

  constructor(options: ReflectorOptions<T, P>, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#version = options.from;
  }

  async *run(): AsyncGenerator<Change<P>> {
    while (!this.#signal.aborted) {
      try {
        if (this.#version === undefined) yield await this.#list();
        yield* this.#watch(this.#version ?? '');
      } catch (error) {
        if (this.#signal.aborted) return;
        const change = await this.#stopped(error);
        const { retryMs } = change;
        yield change;
        if (retryMs > 0) await this.#options.clock.sleep(retryMs, this.#signal).catch(() => undefined);
      }
    }
  }

  async #list(): Promise<Change<P>> {
    const { transport, path, query, pageSize } = this.#options;
    const items: Projected<P>[] = [];
    let version = '';
    const project = (object: T): Projected<P> => this.#projected(object);
    const request = { path, ...(query && { query }), pageSize, project, signal: this.#signal };
    for await (const page of listPages(transport, request)) {
      items.push(...page.items);
      version = page.metadata.resourceVersion;
    }
    this.#version = version;
    // Not 0: where lists succeed but every watch is refused, there would be no pause between the lists.
    this.#failures = Math.min(this.#failures, 1);
    return { kind: 'replaced', items, version };
  }

  async *#watch(from: string): AsyncGenerator<Change<P>> {
    const { transport, path, query, clock, random } = this.#options;
    const timeoutSeconds = String(Math.round(jitter(WATCH_SECONDS, 0.1, random)));
    const position = { resourceVersion: from, allowWatchBookmarks: 'true', timeoutSeconds };
    const began = clock.monotonic();
    let events = 0;
    for await (const event of transport.watch({ path, query: { ...query, ...position }, signal: this.#signal })) {
      const object = event.object as T;
      const change = this.#change(event.type, object);
      // Only after `#change`: an event that could not be projected is asked for again.
      this.#version = object.metadata.resourceVersion;
      this.#failures = 0;
      events++;
      yield change;
    }
    if (events === 0 && clock.monotonic() - began < SHORTEST_WATCH_MS) throw new Error('the watch ended at once');
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

  async #stopped(error: unknown): Promise<Change<P> & { readonly retryMs: number }> {
    const { optional } = this.#options;
    if (!optional || !(await this.#isAbsent(optional, error))) {
      return { kind: 'interrupted', error, retryMs: this.#failed(error) };
    }
    this.#version = undefined;
    this.#failures = 0;
    return { kind: 'absent', retryMs: optional.retryMs };
  }

  async #isAbsent({ isServed }: OptionalCollection, error: unknown): Promise<boolean> {
    if (!(error instanceof ApiStatusError) || error.status.code !== 404) return false;
    return !(await isServed(this.#signal).catch(() => true));
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

/** Key of an object in a cache: `namespace/name`, or the name alone. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
