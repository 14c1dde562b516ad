import type { KubeTransport } from '../kube/transport.ts';

/** A page of fifty pods takes a megabyte as it comes and several as objects. */
const MAX_PAGES = 2;

/** The same transport, which reads only a few pages of lists at once: those of a hundred drains that begin together would not fit into memory. */
export function pagesInTurn(transport: KubeTransport): KubeTransport {
  const turns = new Turns();
  return {
    async request(request) {
      const { query } = request;
      if (query?.['limit'] === undefined) return transport.request(request);
      await turns.next(query['continue'] !== undefined);
      try {
        return await transport.request(request);
      } finally {
        turns.done();
      }
    },
    watch: (watch) => transport.watch(watch),
  };
}

/** Further pages go before first ones: the API server expires a list that takes too long. */
class Turns {
  #running = 0;
  readonly #begun: (() => void)[] = [];
  readonly #others: (() => void)[] = [];

  async next(hasBegun: boolean): Promise<void> {
    if (this.#running++ < MAX_PAGES) return;
    await new Promise<void>((resolve) => (hasBegun ? this.#begun : this.#others).push(resolve));
  }

  /** Lets the next request go. */
  done(): void {
    this.#running--;
    (this.#begun.shift() ?? this.#others.shift())?.();
  }
}
