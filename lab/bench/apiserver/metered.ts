import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenReview } from '../../../runtime/kube/objects.ts';
import type { ApiRequest, ApiResponse, EmbeddedCluster, UserInfo } from '../../sim/cluster/cluster.ts';
import type { Servable } from '../../sim/cluster/https.ts';

/** How long the cluster takes over an eviction, so that several can be in flight. */
const EVICTION_MS = 50;

/** A cluster that counts what a benchmark wants to know of its requests, before they reach it. */
export class MeteredCluster implements Servable {
  readonly #cluster: EmbeddedCluster;
  readonly #reviews = new Map<string, number>();
  /** Evictions in flight by the first part of their pod's name, which is its node's. */
  readonly #inFlight = new Map<string, number>();
  #requests = 0;
  #evictions = 0;
  #mostOnNode = 0;
  #mostInAll = 0;

  constructor(cluster: EmbeddedCluster) {
    this.#cluster = cluster;
  }

  /** All so far. */
  get requests(): number {
    return this.#requests;
  }

  /** Most TokenReviews of any one token since this was last asked. */
  takeMostReviews(): number {
    const most = Math.max(0, ...this.#reviews.values());
    this.#reviews.clear();
    return most;
  }

  /** Requests for evictions: how many, and the most in flight for one node and altogether. */
  get evictions(): { readonly asked: number; readonly mostOnNode: number; readonly mostInAll: number } {
    return { asked: this.#evictions, mostOnNode: this.#mostOnNode, mostInAll: this.#mostInAll };
  }

  authenticateToken(token: string): UserInfo | undefined {
    return this.#cluster.authenticateToken(token);
  }

  async handle(request: ApiRequest, user: UserInfo): Promise<ApiResponse> {
    this.#requests++;
    if (request.path.endsWith('/tokenreviews')) this.#countReview(request.body as TokenReview);
    const evicted = /\/pods\/([^/]+)\/eviction$/.exec(request.path)?.[1];
    if (evicted === undefined) return this.#cluster.handle(request, user);
    return this.#evict(nodeOf(evicted), () => this.#cluster.handle(request, user));
  }

  #countReview({ spec: { token } }: TokenReview): void {
    this.#reviews.set(token, (this.#reviews.get(token) ?? 0) + 1);
  }

  async #evict(node: string, evict: () => Promise<ApiResponse>): Promise<ApiResponse> {
    const onNode = (this.#inFlight.get(node) ?? 0) + 1;
    this.#inFlight.set(node, onNode);
    this.#evictions++;
    this.#mostOnNode = Math.max(this.#mostOnNode, onNode);
    this.#mostInAll = Math.max(
      this.#mostInAll,
      [...this.#inFlight.values()].reduce((sum, count) => sum + count, 0),
    );
    try {
      await sleep(EVICTION_MS);
      return await evict();
    } finally {
      this.#inFlight.set(node, (this.#inFlight.get(node) ?? 0) - 1);
    }
  }
}

/** Pods of a benchmark are named after their node. */
export const podName = (node: string, index: number): string => `${node}-web-${index}`;
const nodeOf = (pod: string): string => pod.replace(/-web-\d+$/, '');
