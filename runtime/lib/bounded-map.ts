/** Remembers the values of the newest `max` keys. */
export class BoundedMap<K, V> {
  readonly #max: number;
  readonly #values = new Map<K, V>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: K): V | undefined {
    return this.#values.get(key);
  }

  /** A key that is there already becomes the newest. */
  set(key: K, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.#max) this.#values.delete(oldest as K);
  }
}
