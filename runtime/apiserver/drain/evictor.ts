import type { EvictionPort, EvictionResult } from '../../kube/evictions.ts';
import type { Pod } from '../../kube/objects.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { backoff } from '../../lib/retry.ts';
import type { Metrics } from '../metrics.ts';
import { Limiter } from './limiter.ts';

export interface EvictorOptions {
  readonly evictions: EvictionPort;
  readonly metrics: Pick<Metrics, 'evictions'>;
  readonly clock: Clock;
  readonly random: Random;
  /** Most requests in flight. How long pods take to end does not count. */
  readonly maxInFlight: number;
  /** The places in flight of all evictors together. */
  readonly places: Limiter;
  /** Ends everything but the requests that are on their way. */
  readonly signal: AbortSignal;
  /** Called when `blocked` changes. */
  readonly onBlocked: () => void;
}

interface Task {
  /** Ends the wait for the next try. A request that is on its way is left to end, so that the bound on requests holds. */
  readonly cancel: AbortController;
  /** Why the last try failed. */
  blocked?: string;
}

type Failure = Extract<EvictionResult, { kind: 'blocked' | 'refused' }>;

const BLOCKED_BACKOFF = { firstMs: 500, maxMs: 5_000 };
const REFUSED_BACKOFF = { firstMs: 1_000, maxMs: 15_000 };

/** Asks for the eviction of pods until each is accepted, whatever the answers in between. */
export class Evictor {
  readonly #options: EvictorOptions;
  readonly #limiter: Limiter;
  /** By UID of the pod. */
  readonly #tasks = new Map<string, Task>();

  constructor(options: EvictorOptions) {
    this.#options = options;
    this.#limiter = new Limiter(options.maxInFlight);
  }

  /** Evicts exactly these pods from now on. Those that are ending already need no eviction. */
  aim(pods: readonly Pod[]): void {
    const wanted = new Map(
      pods.filter((pod) => pod.metadata.deletionTimestamp === undefined).map((pod) => [pod.metadata.uid, pod]),
    );
    for (const [uid, task] of this.#tasks) {
      if (wanted.has(uid)) continue;
      task.cancel.abort();
      this.#tasks.delete(uid);
    }
    for (const [uid, pod] of wanted) {
      if (this.#tasks.has(uid)) continue;
      const task: Task = { cancel: new AbortController() };
      this.#tasks.set(uid, task);
      void this.#evict(pod, task);
    }
  }

  /** By UID: why a pod could not be evicted at the last try. */
  blocked(): ReadonlyMap<string, string> {
    return new Map([...this.#tasks].flatMap(([uid, { blocked }]) => (blocked === undefined ? [] : [[uid, blocked]])));
  }

  async #evict(pod: Pod, task: Task): Promise<void> {
    const { clock, places, signal, onBlocked } = this.#options;
    const waiting = AbortSignal.any([signal, task.cancel.signal]);
    for (let attempt = 0; !waiting.aborted; attempt++) {
      const failure = await this.#limiter.run(() => places.run(() => this.#ask(pod, waiting)));
      const why = failure && describe(failure);
      if (why !== task.blocked) {
        if (why === undefined) delete task.blocked;
        else task.blocked = why;
        onBlocked();
      }
      if (!failure) return;
      await clock.sleep(this.#delay(failure, attempt), waiting).catch(() => undefined);
    }
  }

  /** Undefined when nothing is left to ask for. */
  async #ask({ metadata: { namespace = '', name, uid } }: Pod, waiting: AbortSignal): Promise<Failure | undefined> {
    // It may have waited long for its place.
    if (waiting.aborted) return undefined;
    const { evictions, metrics } = this.#options;
    // Never cut off: the API server may have taken it from the budget already, which then counts the pod as gone for two minutes.
    const result = await evictions
      .evict({ namespace, name, uid })
      .catch((error: unknown): Failure => ({ kind: 'refused', status: 0, message: messageOf(error) }));
    metrics.evictions.inc({ result: result.kind });
    return result.kind === 'blocked' || result.kind === 'refused' ? result : undefined;
  }

  #delay(failure: Failure, attempt: number): number {
    const { random } = this.#options;
    if (failure.kind === 'refused') return backoff(attempt, { ...REFUSED_BACKOFF, random });
    return Math.max(failure.retryAfterMs ?? 0, backoff(attempt, { ...BLOCKED_BACKOFF, random }));
  }
}

/** Of what the API server says, or a webhook through it, which may be of any length. */
const LONGEST_MESSAGE = 300;

/** In stable words, because they go into the resource's status. */
function describe(failure: Failure): string {
  if (failure.kind === 'refused') {
    const message = failure.message.slice(0, LONGEST_MESSAGE);
    return failure.status === 0 ? message : `refused with ${failure.status}: ${message}`;
  }
  if (failure.budgets.length === 0) return 'the Kubernetes API asks to wait';
  return failure.budgets.map((budget) => `PodDisruptionBudget ${budget}`).join(', ');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'no answer';
}
