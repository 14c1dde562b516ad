import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../lib/log.ts';
import { type Change, listAndWatch, type Projected, type ReflectorOptions } from './reflector.ts';
import type { KubeObject } from './objects.ts';
import { isAsNewAs } from './resource-version.ts';

export interface InformerOptions<T extends KubeObject, P> extends ReflectorOptions<T, P> {
  readonly logger: Logger;
  /** Whether two projections are the same to every reader; deep equality by default. */
  readonly equal?: (before: P, after: P) => boolean;
}

/**
 * A collection of the API server as its readers need it: each object is projected as it comes in and never kept itself. Listeners
 * hear of changed projections only, so the heartbeats of ten thousand nodes wake nobody.
 */
export class Informer<T extends KubeObject, P> {
  /** Resolves when the first list is in. */
  readonly synced: Promise<void>;
  readonly #options: InformerOptions<T, P>;
  readonly #items = new Map<string, P>();
  readonly #versions = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  readonly #waiting = new Set<{ readonly version: string; readonly resolve: () => void }>();
  #lastSyncVersion: string | undefined;
  #resolveSynced = (): void => undefined;

  constructor(options: InformerOptions<T, P>) {
    this.#options = options;
    this.synced = new Promise((resolve) => (this.#resolveSynced = resolve));
  }

  /** Projections by `namespace/name`, or by name alone for objects without a namespace. A live view. */
  items(): ReadonlyMap<string, P> {
    return this.#items;
  }

  /** resourceVersion at which the object was last seen; undefined where it is not there. */
  versionOf(key: string): string | undefined {
    return this.#versions.get(key);
  }

  /** Everything up to this resourceVersion has been seen; undefined before the first list. */
  get lastSyncVersion(): string | undefined {
    return this.#lastSyncVersion;
  }

  /** Whether a write that was acknowledged with `version` has been seen here, or what came after it. */
  isAsNewAs(version: string): boolean {
    return isAsNewAs(this.#lastSyncVersion, version);
  }

  /** Resolves once `isAsNewAs(version)`, also when no projection changes on the way; at the signal's abort too. */
  async reached(version: string, signal: AbortSignal): Promise<void> {
    if (this.isAsNewAs(version) || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const waiter = { version, resolve };
      this.#waiting.add(waiter);
      signal.addEventListener('abort', () => this.#waiting.delete(waiter) && resolve(), { once: true });
    });
  }

  /** Calls `listener` after projections changed, appeared or went, and after the first list. Returns what ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Fills the cache and keeps it true until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    for await (const change of listAndWatch(this.#options, signal)) this.#receive(change);
  }

  #receive(change: Change<P>): void {
    if (change.kind === 'interrupted') {
      const { error, retryMs } = change;
      this.#options.logger.warn('watch interrupted', { path: this.#options.path, error, retryMs: Math.round(retryMs) });
      return;
    }
    const first = this.#lastSyncVersion === undefined;
    const changed = this.#apply(change);
    this.#advance(change.kind === 'changed' ? change.item.version : change.version);
    if (first) this.#resolveSynced();
    if (changed || first) for (const listener of this.#listeners) listener();
  }

  /** Whether a reader could tell the difference. */
  #apply(change: Exclude<Change<P>, { kind: 'interrupted' }>): boolean {
    if (change.kind === 'replaced') return this.#replace(change.items);
    if (change.kind === 'changed') return this.#put(change.item);
    return change.kind === 'deleted' && this.#remove(change.key);
  }

  #replace(items: readonly Projected<P>[]): boolean {
    const present = new Set(items.map(({ key }) => key));
    const gone = [...this.#items.keys()].filter((key) => !present.has(key));
    const removed = gone.map((key) => this.#remove(key));
    const put = items.map((item) => this.#put(item));
    return [...removed, ...put].includes(true);
  }

  #put({ key, version, value }: Projected<P>): boolean {
    this.#versions.set(key, version);
    const before = this.#items.get(key);
    const equal = this.#options.equal ?? isDeepStrictEqual;
    if (before !== undefined && equal(before, value)) return false;
    this.#items.set(key, value);
    return true;
  }

  #remove(key: string): boolean {
    this.#versions.delete(key);
    return this.#items.delete(key);
  }

  #advance(version: string): void {
    this.#lastSyncVersion = version;
    for (const waiter of this.#waiting) {
      if (!this.isAsNewAs(waiter.version)) continue;
      this.#waiting.delete(waiter);
      waiter.resolve();
    }
  }
}
