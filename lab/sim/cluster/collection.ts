import type { ApiRequest, UserInfo } from './api.ts';
import type { KubeJson } from './object.ts';

/** The request that a write is part of, and whose it was. */
export interface Cause {
  readonly user: UserInfo;
  readonly request: ApiRequest;
  /** Of the resource that the request names, e.g. `status`, or `eviction`. */
  readonly subresource?: string | undefined;
}

/** One committed write, as the watches see it. */
export interface Change {
  /** The resourceVersion that this write made. */
  readonly version: number;
  /** The object before; absent for a creation. */
  readonly before?: KubeJson;
  /** The object after; for a removal its last state, with the resourceVersion of the removal. */
  readonly after: KubeJson;
  readonly removed: boolean;
  /** Undefined for what follows from another write, as what a garbage collector does. */
  readonly cause?: Cause | undefined;
}

export interface Subscriber {
  /** If set, only changes of objects with this name arrive: thousands of agents each watch one object. */
  readonly name?: string;
  changed(change: Change): void;
  /** The resource is no longer served. */
  closed(): void;
}

/** At least so many changes of each resource can be replayed to a watch; older ones answer 410. */
const REPLAYED = 10_000;

/** The key of an object within its collection; sorts as the API server lists: by namespace, then by name. */
export function objectKey(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

/** All objects of one resource, the recent changes to them, and who follows these. */
export class Collection {
  readonly #objects = new Map<string, KubeJson>();
  #sorted: readonly string[] | undefined;
  #history: Change[] = [];
  #forgotten: number;
  readonly #subscribers = new Set<Subscriber>();
  readonly #byName = new Map<string, Set<Subscriber>>();

  /** @param version nothing before it can be replayed */
  constructor(version: number) {
    this.#forgotten = version;
  }

  /** Changes up to this version are forgotten: a watch cannot start before it. */
  get forgotten(): number {
    return this.#forgotten;
  }

  get(key: string): KubeJson | undefined {
    return this.#objects.get(key);
  }

  /** In the order of the API server; all of `namespace`, or all. */
  list(namespace?: string): readonly KubeJson[] {
    this.#sorted ??= [...this.#objects.keys()].toSorted();
    const prefix = namespace === undefined ? '' : objectKey(namespace, '');
    const found: KubeJson[] = [];
    for (const key of this.#sorted) {
      const object = key.startsWith(prefix) ? this.#objects.get(key) : undefined;
      if (object) found.push(object);
    }
    return found;
  }

  commit(change: Change): void {
    const key = objectKey(change.after.metadata.namespace, change.after.metadata.name);
    if (!change.before || change.removed) this.#sorted = undefined;
    if (change.removed) this.#objects.delete(key);
    else this.#objects.set(key, change.after);
    this.#history.push(change);
    if (this.#history.length > 2 * REPLAYED) this.forget(REPLAYED);
    for (const subscriber of this.#subscribers) subscriber.changed(change);
    for (const subscriber of this.#byName.get(change.after.metadata.name) ?? []) subscriber.changed(change);
  }

  /** Keeps only the last `keep` changes for replay. */
  forget(keep: number): void {
    const dropped = this.#history.splice(0, Math.max(0, this.#history.length - keep));
    this.#forgotten = dropped.at(-1)?.version ?? this.#forgotten;
  }

  /** The changes after `version`, which must not be forgotten. Most watches go on from a recent one, so it looks from the end. */
  since(version: number): readonly Change[] {
    return this.#history.slice(this.#history.findLastIndex((change) => change.version <= version) + 1);
  }

  /** Takes back the changes after `version`, which must not be forgotten. @returns them, the newest first */
  rewind(version: number): readonly Change[] {
    const undone = this.since(version).toReversed();
    this.#history = this.#history.slice(0, this.#history.length - undone.length);
    this.#sorted = undefined;
    for (const { before, after } of undone) {
      const key = objectKey(after.metadata.namespace, after.metadata.name);
      if (before) this.#objects.set(key, before);
      else this.#objects.delete(key);
    }
    return undone;
  }

  subscribe(subscriber: Subscriber): void {
    if (subscriber.name === undefined) {
      this.#subscribers.add(subscriber);
      return;
    }
    const named = this.#byName.get(subscriber.name) ?? new Set();
    this.#byName.set(subscriber.name, named.add(subscriber));
  }

  unsubscribe(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    const named = this.#byName.get(subscriber.name ?? '');
    named?.delete(subscriber);
    if (named?.size === 0) this.#byName.delete(subscriber.name ?? '');
  }

  /** Ends every watch. */
  close(): void {
    for (const subscribers of [this.#subscribers, ...this.#byName.values()]) {
      for (const subscriber of subscribers) subscriber.closed();
    }
  }
}
