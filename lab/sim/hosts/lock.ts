/** The lock of the host's update status: many readers or one writer, and nobody ever waits for it. */
export class UpdateLock {
  #readers = 0;
  #written = false;

  /** The function that gives the lock back; undefined when a writer has it. */
  tryShared(): (() => void) | undefined {
    if (this.#written) return undefined;
    this.#readers += 1;
    return () => {
      this.#readers -= 1;
    };
  }

  /** The function that gives the lock back; undefined when anybody has it. */
  tryExclusive(): (() => void) | undefined {
    if (this.#written || this.#readers > 0) return undefined;
    this.#written = true;
    return () => {
      this.#written = false;
    };
  }
}
