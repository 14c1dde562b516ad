import { getOrInsert } from '../../../runtime/lib/maps.ts';
import { type Cause, type Change, Collection, objectKey } from './collection.ts';
import { deepFreeze, type KubeJson, withMeta } from './object.ts';
import type { ResourceType } from './resources.ts';

/** Which object; the type's version does not matter. */
export interface Ref {
  readonly type: ResourceType;
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface Live {
  readonly type: ResourceType;
  readonly object: KubeJson;
}

/**
 * Every object of the cluster. One counter numbers all writes; a write is one synchronous step that replaces an immutable object,
 * so what anybody holds is a consistent picture of some moment.
 */
export class Store {
  readonly #onChange: (type: ResourceType, change: Change) => void;
  #version = 1;
  readonly #collections = new Map<string, Collection>();
  /** Of what was ever written. */
  readonly #types = new Map<string, ResourceType>();
  readonly #byUid = new Map<string, Live>();
  readonly #dependents = new Map<string, Set<string>>();

  /** @param onChange runs inside the write, after the watches were told */
  constructor(onChange: (type: ResourceType, change: Change) => void) {
    this.#onChange = onChange;
  }

  /** The resourceVersion of the newest write. */
  get version(): number {
    return this.#version;
  }

  collection(type: Pick<ResourceType, 'group' | 'plural'>): Collection {
    return getOrInsert(this.#collections, idOf(type), () => new Collection(this.#version));
  }

  /** Ends the watches of a resource that is no longer served. */
  drop(type: ResourceType): void {
    this.#collections.get(idOf(type))?.close();
    this.#collections.delete(idOf(type));
  }

  /** Forgets the changes so far: no watch can start before now. */
  compact(): void {
    for (const collection of this.#collections.values()) collection.forget(0);
  }

  /** Everything is as it was at `version`, the counter of writes with it, and all watches end: etcd was restored from a backup. */
  rewind(version: number): void {
    this.#version = version;
    for (const [id, type] of this.#types) {
      const collection = this.#collections.get(id);
      for (const { before, after } of collection?.rewind(version) ?? [])
        this.#index(type, { version, before: after, after: before ?? after, removed: !before });
      collection?.close();
    }
  }

  get({ type, namespace, name }: Ref): KubeJson | undefined {
    return this.collection(type).get(objectKey(namespace, name));
  }

  byUid(uid: string): Live | undefined {
    return this.#byUid.get(uid);
  }

  /** Objects that name `uid` among their owners. */
  dependents(uid: string): readonly Live[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((dependent) => this.#byUid.get(dependent) ?? []);
  }

  /** Stores `object` under a new resourceVersion. The caller has checked that it may replace what is there. */
  put(type: ResourceType, object: KubeJson, cause?: Cause): KubeJson {
    const before = this.get({ type, namespace: object.metadata.namespace, name: object.metadata.name });
    return this.#commit(type, { object, removed: false, cause, ...(before && { before }) });
  }

  /** Removes `object`. Answers its last state, with the resourceVersion of the removal. */
  remove(type: ResourceType, object: KubeJson, cause?: Cause): KubeJson {
    return this.#commit(type, { object, removed: true, cause, before: object });
  }

  #commit(type: ResourceType, write: Omit<Change, 'version' | 'after'> & { object: KubeJson }): KubeJson {
    const { object, ...rest } = write;
    const version = ++this.#version;
    const after = deepFreeze(withMeta(object, { resourceVersion: String(version) }));
    const change: Change = { version, after, ...rest };
    this.#types.set(idOf(type), type);
    this.#index(type, change);
    this.collection(type).commit(change);
    this.#onChange(type, change);
    return after;
  }

  #index(type: ResourceType, { before, after, removed }: Change): void {
    const { uid } = after.metadata;
    if (removed) this.#byUid.delete(uid);
    else this.#byUid.set(uid, { type, object: after });
    for (const owner of before?.metadata.ownerReferences ?? []) this.#disown(owner.uid, uid);
    if (removed) return;
    for (const owner of after.metadata.ownerReferences ?? []) {
      this.#dependents.set(owner.uid, (this.#dependents.get(owner.uid) ?? new Set()).add(uid));
    }
  }

  #disown(owner: string, uid: string): void {
    const left = this.#dependents.get(owner);
    left?.delete(uid);
    if (left?.size === 0) this.#dependents.delete(owner);
  }
}

const idOf = ({ group, plural }: Pick<ResourceType, 'group' | 'plural'>): string => `${group}/${plural}`;
