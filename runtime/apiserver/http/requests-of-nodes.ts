import { RefusedError } from '../refusal.ts';

/** An agent asks for one thing at a time; what it asked for before may still run where its connection broke unnoticed. */
const MAX_OF_NODE = 4;

/** Bounds the requests of each node that are under way: an agent's token is as good as its node is, and each request takes memory. */
export class RequestsOfNodes {
  readonly #underWay = new Map<string, number>();

  /** Resolves as `work` does. @throws RefusedError 429 where the node has as many already */
  async run<T>(nodeName: string, work: () => Promise<T>): Promise<T> {
    const count = this.#underWay.get(nodeName) ?? 0;
    if (count >= MAX_OF_NODE)
      throw new RefusedError(429, 'TooManyRequests', `${MAX_OF_NODE} requests of the node are under way; ask again`);
    this.#underWay.set(nodeName, count + 1);
    try {
      return await work();
    } finally {
      const left = (this.#underWay.get(nodeName) ?? 1) - 1;
      if (left > 0) this.#underWay.set(nodeName, left);
      else this.#underWay.delete(nodeName);
    }
  }
}
