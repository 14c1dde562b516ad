/** A priority queue: the item that comes `before` all others is at hand at once, and each change costs log n. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = items[above] as T;
      if (!this.#before(item, other)) break;
      items[at] = other;
      at = above;
    }
    items[at] = item;
  }

  /** Takes the first item away. */
  pop(): T | undefined {
    const first = this.first;
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) this.#sink(last);
    return first;
  }

  /** Puts the item where the first was, and then as far down as it belongs. */
  #sink(item: T): void {
    const items = this.#items;
    let at = 0;
    for (let below = this.#smallerChild(at); below < items.length; below = this.#smallerChild(at)) {
      const other = items[below] as T;
      if (!this.#before(other, item)) break;
      items[at] = other;
      at = below;
    }
    items[at] = item;
  }

  #smallerChild(at: number): number {
    const left = 2 * at + 1;
    const right = left + 1;
    if (right >= this.#items.length) return left;
    return this.#before(this.#items[right] as T, this.#items[left] as T) ? right : left;
  }
}
