import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { ApiRequest, EmbeddedCluster, UserInfo } from '../../sim/cluster/cluster.ts';
import { overTheWire } from '../../sim/cluster/object.ts';

/** Somebody else was first, a policy of the storm forbids it, or the API server could not just now: whoever asks has to look again. */
const ORDINARY: ReadonlySet<number> = new Set([403, 404, 409, 410, 429, 500, 503, 504]);

const PATCHES = {
  merge: 'application/merge-patch+json',
  /** Lists like conditions are merged by their keys, as kubelets write them. */
  strategic: 'application/strategic-merge-patch+json',
} as const;

/** Somebody of the environment at the Kubernetes API. Its requests take no time, and nothing comes between it and the server. */
export class Hand {
  readonly #cluster: EmbeddedCluster;
  readonly #user: UserInfo;

  /** @param name whom the history names as the author of its writes */
  constructor(cluster: EmbeddedCluster, name: string) {
    this.#cluster = cluster;
    this.#user = { username: name, groups: ['system:masters', 'system:authenticated'] };
  }

  get<T = KubeObject>(path: string): Promise<T | undefined> {
    return this.#ask<T>({ method: 'GET', path });
  }

  create<T = KubeObject>(path: string, body: object): Promise<T | undefined> {
    return this.#ask<T>({ method: 'POST', path, body });
  }

  replace<T = KubeObject>(path: string, body: object): Promise<T | undefined> {
    return this.#ask<T>({ method: 'PUT', path, body });
  }

  patch<T = KubeObject>(path: string, body: object, kind: keyof typeof PATCHES = 'merge'): Promise<T | undefined> {
    return this.#ask<T>({ method: 'PATCH', path, body, headers: { 'content-type': PATCHES[kind] } });
  }

  delete(path: string, options: object = {}): Promise<unknown> {
    return this.#ask({ method: 'DELETE', path, body: options });
  }

  /** What is there, and what becomes of it, to the end of the run. */
  async watch(path: string): Promise<AsyncIterable<{ type: string; object: unknown }>> {
    const query = { watch: 'true', timeoutSeconds: String(1e9) };
    const answer = await this.#cluster.handle({ method: 'GET', path, query }, this.#user);
    if (!('stream' in answer)) throw new Error(`watch ${path}: ${answer.status}`);
    return answer.stream;
  }

  /** @returns undefined where there is no such object, or not as it was @throws Error on a request that the simulation must not make */
  async #ask<T>(request: ApiRequest): Promise<T | undefined> {
    const headers = { accept: 'application/json', 'content-type': 'application/json', ...request.headers };
    const answer = await this.#cluster.handle({ ...request, headers, body: overTheWire(request.body) }, this.#user);
    if ('stream' in answer) throw new Error(`${request.path}: a watch`);
    if (answer.status < 400) return answer.body as T;
    if (ORDINARY.has(answer.status)) return undefined;
    throw new Error(`${this.#user.username}: ${request.method} ${request.path}: ${JSON.stringify(answer.body)}`);
  }
}
