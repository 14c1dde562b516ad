import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../lib/log.ts';
import { type Change, keyOf, type Projected, Reflector, type ReflectorOptions } from './reflector.ts';
import type { KubeObject } from './objects.ts';

export interface InformerOptions<T extends KubeObject, P> extends Omit<ReflectorOptions<T, P>, 'from'> {
  readonly logger: Logger;
  /** How many of the objects that were deleted last stay known. @default 0 */
  readonly keepsDeleted?: number;
  /** What there was at a moment, where the caller has just listed it: the watch begins there. @default it is listed first */
  readonly known?: { readonly items: readonly Projected<P>[]; readonly version: string };
  /** Called at each failure to read the collection. */
  readonly onInterrupted?: (error: unknown) => void;
}

/**
 * A cache of one collection. It keeps a projection of each object and never the object itself. Listeners are called only when a projection
 * changed, so the heartbeats of ten thousand nodes call none.
 */
export class Informer<T extends KubeObject, P> {
  /** Resolves when the first list is in. */
  readonly synced: Promise<void>;
  readonly #options: InformerOptions<T, P>;
  readonly #items = new Map<string, P>();
  #deleted: readonly P[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #reflector: Reflector<T, P>;
  #isSynced = false;
  #resolveSynced = (): void => undefined;

  constructor(options: InformerOptions<T, P>) {
    this.#options = options;
    const project = (object: T): P => this.#projected(object);
    this.#reflector = new Reflector({ ...options, project, from: options.known?.version });
    this.synced = new Promise((resolve) => (this.#resolveSynced = resolve));
  }

  /** Projections by `namespace/name`, or by name alone for objects without a namespace. A live view. */
  items(): ReadonlyMap<string, P> {
    return this.#items;
  }

  /** What was deleted last, as it was then, oldest first. Since a list, which does not tell what has happened before it. */
  get deleted(): readonly P[] {
    return this.#deleted;
  }

  /** Whether the first list is in. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Lists the collection anew. */
  relist(): void {
    this.#reflector.relist();
  }

  /** Calls `listener` after projections were added, changed or removed, and after the first list. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Fills the cache and keeps it up to date until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { known } = this.#options;
    if (known) this.#receive({ kind: 'replaced', ...known });
    for await (const change of this.#reflector.run(signal)) this.#receive(change);
  }

  #receive(change: Change<P>): void {
    if (change.kind === 'interrupted') {
      this.#interrupted(change);
      return;
    }
    const isFirst = !this.#isSynced;
    const isChanged = this.#apply(change);
    this.#isSynced = true;
    if (isFirst) this.#resolveSynced();
    if (isChanged || isFirst) for (const listener of this.#listeners) listener();
  }

  #interrupted({ error, retryMs }: Extract<Change<P>, { kind: 'interrupted' }>): void {
    const { logger, path, onInterrupted } = this.#options;
    logger.warn('watch interrupted', { path, error, retryMs: Math.round(retryMs) });
    onInterrupted?.(error);
  }

  /** Whether a reader could tell the difference. */
  #apply(change: Exclude<Change<P>, { kind: 'interrupted' }>): boolean {
    if (change.kind === 'replaced') return this.#replace(change.items);
    if (change.kind === 'absent') return this.#replace([]);
    if (change.kind === 'changed') return this.#put(change.item);
    return change.kind === 'deleted' && this.#delete(change.key);
  }

  #delete(key: string): boolean {
    const last = this.#items.get(key);
    const { keepsDeleted = 0 } = this.#options;
    if (last !== undefined && keepsDeleted > 0) this.#deleted = [...this.#deleted, last].slice(-keepsDeleted);
    return this.#items.delete(key);
  }

  #replace(items: readonly Projected<P>[]): boolean {
    this.#deleted = [];
    const present = new Set(items.map(({ key }) => key));
    const gone = [...this.#items.keys()].filter((key) => !present.has(key));
    const removed = gone.map((key) => this.#items.delete(key));
    const put = items.map((item) => this.#put(item));
    return [...removed, ...put].includes(true);
  }

  #put({ key, value }: Projected<P>): boolean {
    if (this.#items.get(key) === value) return false;
    this.#items.set(key, value);
    return true;
  }

  /** What is known already is not held a second time while a whole list is read. */
  #projected(object: T): P {
    const value = this.#options.project(object);
    const before = this.#items.get(keyOf(object));
    return before !== undefined && isDeepStrictEqual(before, value) ? before : value;
  }
}
