import { UnreachableError } from '../../runtime/kube/errors.ts';
import type { KubeRequest, KubeTransport, KubeWatch } from '../../runtime/kube/transport.ts';
import { settle } from '../../lab/sim/clock.ts';

interface Pending {
  readonly actor: string;
  /** Absent for a watch event. */
  readonly request?: KubeRequest;
  go(): void;
}

/**
 * Holds each request and each watch event of several processes until it is told to let one go, so that a test can place every read and
 * write by hand. A request whose sender gives up stays under way: it can land at any later time.
 */
export class Scheduler {
  readonly #pending: Pending[] = [];

  /** How many wait, of `actor` or of all. */
  waiting(actor?: string): number {
    return this.#pending.filter((one) => actor === undefined || one.actor === actor).length;
  }

  /** Whether a request of `actor` waits that `fits`. */
  holds(actor: string, fits: (request: KubeRequest) => boolean): boolean {
    return this.#pending.some((one) => one.actor === actor && one.request !== undefined && fits(one.request));
  }

  /** A way to the cluster on which everything waits. */
  transport(actor: string, base: KubeTransport): KubeTransport {
    return {
      request: (request) => this.#request(actor, base, request),
      watch: (request) => this.#watch(actor, base, request),
    };
  }

  /** Lets the one at `index` go (of `actor`, or of all), and whatever follows settle. False where there is none. */
  async release(index: number, actor?: string): Promise<boolean> {
    const chosen = this.#pending.filter((one) => actor === undefined || one.actor === actor).at(index);
    if (!chosen) return false;
    this.#pending.splice(this.#pending.indexOf(chosen), 1);
    chosen.go();
    await settle(3);
    return true;
  }

  #request(actor: string, base: KubeTransport, { signal, ...request }: KubeRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => reject(new UnreachableError('given up'));
      // As over HTTPS: what is given up before it is sent is never sent.
      if (signal?.aborted) return giveUp();
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#pending.push({ actor, request, go: () => void base.request(request).then(resolve, reject) });
    });
  }

  async *#watch(actor: string, base: KubeTransport, request: KubeWatch): AsyncGenerator<never> {
    for await (const event of base.watch(request)) {
      await new Promise<void>((resolve) => {
        request.signal?.addEventListener('abort', () => resolve(), { once: true });
        this.#pending.push({ actor, go: resolve });
      });
      yield event as never;
    }
  }
}
