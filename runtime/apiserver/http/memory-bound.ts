import { RefusedError } from '../refusal.ts';

/** Bounds what all requests of a kind may keep in memory together, whoever sends them and however slowly. */
export class MemoryBound {
  readonly #maxBytes: number;
  #held = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Runs `work`, which says what it keeps until its end. `keep` throws RefusedError 503 beyond the bound, and counts nothing more of that
   * work, or others would be refused with it before it has ended.
   */
  async run<T>(work: (keep: (bytes: number) => void) => Promise<T>): Promise<T> {
    let own = 0;
    const keep = (bytes: number): void => {
      if (this.#held + bytes > this.#maxBytes) {
        giveBack();
        throw new RefusedError(503, 'Busy', 'too many large requests at once; ask again');
      }
      this.#held += bytes;
      own += bytes;
    };
    const giveBack = (): void => {
      this.#held -= own;
      own = 0;
    };
    try {
      return await work(keep);
    } finally {
      giveBack();
    }
  }
}
