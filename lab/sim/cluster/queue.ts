/** Items handed from a producer to one consumer, in order. */
export class Queue<T extends object> implements AsyncIterableIterator<T> {
  #items: T[] = [];
  #ended = false;
  #waiting: (() => void) | undefined;

  push(item: T): void {
    if (this.#ended) return;
    this.#items.push(item);
    this.#wake();
  }

  /** What was pushed before is still delivered. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async next(): Promise<IteratorResult<T>> {
    while (this.#items.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    const value = this.#items.shift();
    return value === undefined ? { done: true, value: undefined } : { done: false, value };
  }

  return(): Promise<IteratorResult<T>> {
    this.#items = [];
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }
}
