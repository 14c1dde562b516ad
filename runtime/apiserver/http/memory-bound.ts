import { RefusedError } from '../refusal.ts';

const MESSAGE = 'too many large requests at once; ask again';

/** What one request keeps in memory. */
export interface Holding {
  /** @throws RefusedError 503 where this request itself has to make way */
  keep(bytes: number): void;
  /** To be called when the request ends, however it ends; a second call does nothing. */
  release(): void;
}

interface Held {
  bytes: number;
  readonly makeWay: (why: RefusedError) => void;
}

/**
 * Limits the memory that all requests of a kind take together, answers included. When there is no more room, the oldest request is ended. A
 * client as fast as the API server is never the oldest for long, and a client that stalls keeps nobody out.
 */
export class MemoryBound {
  readonly #maxBytes: number;
  #bytes = 0;
  /** The oldest first. */
  readonly #all = new Set<Held>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @param makeWay ends what has begun first, so that others have room */
  hold(makeWay: (why: RefusedError) => void): Holding {
    const held: Held = { bytes: 0, makeWay };
    this.#all.add(held);
    return {
      keep: (bytes) => {
        this.#makeRoom(bytes, held);
        if (!this.#all.has(held)) throw new RefusedError(503, 'Busy', MESSAGE);
        held.bytes += bytes;
        this.#bytes += bytes;
      },
      release: () => this.#release(held),
    };
  }

  #makeRoom(bytes: number, asking: Held): void {
    for (const oldest of this.#all) {
      if (this.#bytes + bytes <= this.#maxBytes) return;
      this.#release(oldest);
      if (oldest === asking) return;
      oldest.makeWay(new RefusedError(503, 'Busy', MESSAGE));
    }
  }

  #release(held: Held): void {
    if (!this.#all.delete(held)) return;
    this.#bytes -= held.bytes;
  }
}
