/** Remembers the newest `max` values. */
export class BoundedSet<T> {
  readonly #max: number;
  readonly #values = new Set<T>();

  constructor(max: number) {
    this.#max = max;
  }

  has(value: T): boolean {
    return this.#values.has(value);
  }

  /** A value that is there already becomes the newest. */
  add(value: T): void {
    this.#values.delete(value);
    this.#values.add(value);
    for (const oldest of this.#values) {
      if (this.#values.size <= this.#max) return;
      this.#values.delete(oldest);
    }
  }
}
