import type { EvictionPort, EvictionResult, PodIdentity } from '../../kube/evictions.ts';

/** Knows which evictions have been asked for and not answered yet. */
export class UnderWay implements EvictionPort {
  readonly #evictions: EvictionPort;
  readonly #asked = new Set<Promise<EvictionResult>>();

  constructor(evictions: EvictionPort) {
    this.#evictions = evictions;
  }

  evict(pod: PodIdentity, signal?: AbortSignal): Promise<EvictionResult> {
    const asked = this.#evictions.evict(pod, signal);
    this.#asked.add(asked);
    const over = (): void => void this.#asked.delete(asked);
    asked.then(over, over);
    return asked;
  }

  /** Resolves when those that are asked for now have been answered, however. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#asked);
  }
}
