import { type Change, listAndWatch, type ReflectorOptions, keyOf } from '../../../runtime/kube/reflector.ts';
import { isAsNewAs, type KubeObject } from '../../../runtime/kube/objects.ts';

export type MirrorOptions = Omit<ReflectorOptions<KubeObject, KubeObject>, 'project'>;

/**
 * A copy of a collection, kept by list and watch. Answers to one's own writes can be put in ahead of the watch, so that a loop never
 * does a thing twice because it has not seen the first yet.
 */
export class Mirror<T extends KubeObject> {
  readonly #options: MirrorOptions;
  readonly #objects = new Map<string, T>();
  #version: string | undefined;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  /** Whether the collection has been read at least once. */
  get synced(): boolean {
    return this.#version !== undefined;
  }

  items(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** Takes in the answer to a write, unless the watch is past it. */
  observe(object: T): void {
    if (!isAsNewAs(this.#version, object.metadata.resourceVersion)) this.#put(object);
  }

  /** Follows the collection until the signal aborts; `changed` is called after each change. */
  async run(changed: () => void, signal: AbortSignal): Promise<void> {
    for await (const change of listAndWatch<T, T>({ ...this.#options, project: (object) => object }, signal)) {
      if (this.#apply(change)) changed();
    }
  }

  /** @returns whether anything may be different now */
  #apply(change: Change<T>): boolean {
    switch (change.kind) {
      case 'replaced':
        this.#replace(
          change.items.map(({ value }) => value),
          change.version,
        );
        return true;
      case 'changed':
        this.#version = change.item.value.metadata.resourceVersion;
        this.#put(change.item.value);
        return true;
      case 'deleted':
        this.#version = change.version;
        this.#drop(change.key, change.version);
        return true;
      case 'bookmark':
        this.#version = change.version;
        break;
      case 'absent':
      case 'interrupted':
        break;
    }
    return false;
  }

  #replace(objects: readonly T[], version: string): void {
    this.#version = version;
    for (const key of this.#objects.keys()) this.#drop(key, version);
    for (const object of objects) this.#put(object);
  }

  #put(object: T): void {
    const known = this.#objects.get(keyOf(object));
    const newer = known && isAsNewAs(known.metadata.resourceVersion, object.metadata.resourceVersion);
    if (!newer) this.#objects.set(keyOf(object), object);
  }

  #drop(key: string, version: string): void {
    const known = this.#objects.get(key);
    if (known && isAsNewAs(version, known.metadata.resourceVersion)) this.#objects.delete(key);
  }
}
