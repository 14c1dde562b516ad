/** A value that changes over time, of which only the newest counts. `set` calls the listeners before it returns. */
export class Latest<T> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  /** @returns a function that removes the listener */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves with the first value that `fits`, which may be the present one. Rejects with the signal's reason when it aborts. */
  async until(fits: (value: T) => boolean, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (fits(this.#value)) return this.#value;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        stop();
        signal.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        end();
        reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      const stop = this.onChange(() => {
        if (!fits(this.#value)) return;
        end();
        resolve(this.#value);
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}
