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
    let at = this.#items.push(item) - 1;
    while (at > 0 && this.#swapIfBefore(at, (at - 1) >> 1)) at = (at - 1) >> 1;
  }

  /** Takes the first item away. */
  pop(): T | undefined {
    const [first] = this.#items;
    const last = this.#items.pop();
    if (last === undefined || this.#items.length === 0) return first;
    this.#items[0] = last;
    this.#sink(0);
    return first;
  }

  #sink(from: number): void {
    let at = from;
    for (let child = this.#smallerChild(at); this.#swapIfBefore(child, at); child = this.#smallerChild(at)) at = child;
  }

  #smallerChild(at: number): number {
    const left = 2 * at + 1;
    const [a, b] = [this.#items[left], this.#items[left + 1]];
    return a !== undefined && b !== undefined && this.#before(b, a) ? left + 1 : left;
  }

  #swapIfBefore(below: number, above: number): boolean {
    const [lower, upper] = [this.#items[below], this.#items[above]];
    if (lower === undefined || upper === undefined || !this.#before(lower, upper)) return false;
    this.#items[above] = lower;
    this.#items[below] = upper;
    return true;
  }
}
