import { ConflictError, NotFoundError } from '../../../runtime/kube/errors.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { collectionPath, type ResourcePath } from '../../../runtime/kube/paths.ts';
import type { KubeRequest, KubeTransport } from '../../../runtime/kube/transport.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import type { Logger } from '../../../runtime/lib/log.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { backoff } from '../../../runtime/lib/retry.ts';
import { Bell } from './bell.ts';
import { budgets } from './budgets.ts';
import { daemonSets } from './daemonsets.ts';
import { Mirror } from './mirror.ts';
import { nodes } from './nodes.ts';
import { deployments, replicaSets } from './replicas.ts';
import { schedule } from './scheduler.ts';
import type { World } from './types.ts';

/** Changes come in bursts; one round answers all that arrive within this time. */
const BURST_MS = 10;
const RETRY = { firstMs: 100, maxMs: 10_000 };

/** What the controllers watch: field of their world, kind, and where it is served. */
const WATCHED: readonly (readonly [field: keyof World, kind: string, path: ResourcePath])[] = [
  ['nodes', 'Node', { version: 'v1', plural: 'nodes' }],
  ['pods', 'Pod', { version: 'v1', plural: 'pods' }],
  ['daemonSets', 'DaemonSet', { group: 'apps', version: 'v1', plural: 'daemonsets' }],
  ['deployments', 'Deployment', { group: 'apps', version: 'v1', plural: 'deployments' }],
  ['replicaSets', 'ReplicaSet', { group: 'apps', version: 'v1', plural: 'replicasets' }],
  ['budgets', 'PodDisruptionBudget', { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' }],
];

export interface ControlLoopOptions {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** The requests that bring the whole cluster closer to what its objects ask for; none once it is there. */
export function decide(
  world: World,
  { clock, random }: Pick<ControlLoopOptions, 'clock' | 'random'>,
): readonly KubeRequest[] {
  return [
    ...nodes(world),
    ...daemonSets(world, random),
    ...deployments(world, clock),
    ...replicaSets(world, random),
    ...schedule(world, clock),
    ...budgets(world, clock),
  ];
}

/** The control plane's controllers and scheduler: whenever the cluster changes, everything is decided anew. */
export class ControlLoop {
  readonly #options: ControlLoopOptions;
  readonly #mirrors: readonly {
    readonly field: keyof World;
    readonly kind: string;
    readonly mirror: Mirror<KubeObject>;
  }[];
  readonly #bell = new Bell();
  /** Rounds in a row in which a request was refused for no ordinary reason. */
  #failures = 0;
  /** Before the next round. */
  #pauseMs = BURST_MS;

  constructor(options: ControlLoopOptions) {
    this.#options = options;
    this.#mirrors = WATCHED.map(([field, kind, path]) => ({
      field,
      kind,
      mirror: new Mirror({ ...options, path: collectionPath(path) }),
    }));
  }

  /** Works until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const ring = (): void => this.#bell.ring();
    signal.addEventListener('abort', ring, { once: true });
    const following = this.#mirrors.map(({ mirror }) => mirror.run(ring, signal));
    await Promise.all([...following, this.#rounds(signal)]);
  }

  async #rounds(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await this.#bell.wait();
      await clock.sleep(this.#pauseMs, signal).catch(() => undefined);
      if (!signal.aborted && this.#mirrors.every(({ mirror }) => mirror.synced)) await this.#round(signal);
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    const world = Object.fromEntries(this.#mirrors.map(({ field, mirror }) => [field, mirror.items()]));
    const before = this.#failures;
    let again = false;
    for (const request of decide(world as unknown as World, this.#options)) {
      if (signal.aborted) return;
      again = !(await this.#send(request, signal)) || again;
    }
    this.#failures = this.#failures > before ? before + 1 : 0;
    this.#pauseMs = again ? this.#retryMs() : BURST_MS;
    if (again) this.#bell.ring();
  }

  /** A conflict alone is no reason to wait longer each time: what it waits for is under way. */
  #retryMs(): number {
    return backoff(Math.max(0, this.#failures - 1), { ...RETRY, random: this.#options.random });
  }

  /** @returns false when the request failed, and the next round should look again */
  async #send(request: KubeRequest, signal: AbortSignal): Promise<boolean> {
    try {
      const answer = (await this.#options.transport.request({ ...request, signal })) as KubeObject;
      if (request.method !== 'DELETE') this.#mirrors.find(({ kind }) => kind === answer.kind)?.mirror.observe(answer);
      return true;
    } catch (error) {
      // Somebody else was first: the ordinary case, and the next round knows more.
      const ordinary = error instanceof ConflictError || error instanceof NotFoundError;
      if (!ordinary && !signal.aborted) {
        this.#failures++;
        this.#options.log.warn('a simulated controller was refused', {
          method: request.method,
          path: request.path,
          error,
        });
      }
      return false;
    }
  }
}
