import type { EvictionPort, EvictionResult, PodIdentity } from '../../kube/evictions.ts';
import type { Pod } from '../../kube/objects.ts';
import { MAX_SLOW_REQUESTS } from '../../kube/transport.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { backoff } from '../../lib/retry.ts';
import type { Metrics } from '../metrics.ts';
import type { Blocked } from './status.ts';

/** Lets at most `max` tasks run at once; the others wait in line. */
class Limiter {
  readonly #max: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Rejects as `task` does. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#max) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      // A place is handed over rather than freed, or a newcomer could take it first.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

/**
 * The eviction requests of all drains of a replica. It sends as many at once as the transport does, so that an eviction waits for its turn
 * here, where it can still be dropped, and never in the transport.
 */
export class EvictionQueue {
  readonly #evictions: EvictionPort;
  readonly #limiter: Limiter;
  readonly #sent = new Set<Promise<EvictionResult>>();

  constructor(evictions: EvictionPort, max = MAX_SLOW_REQUESTS) {
    this.#evictions = evictions;
    this.#limiter = new Limiter(max);
  }

  /** Undefined where `cancelled` aborted before the request was sent. @throws what the port throws */
  evict(pod: PodIdentity, cancelled: AbortSignal): Promise<EvictionResult | undefined> {
    return this.#limiter.run(async () => (cancelled.aborted ? undefined : this.#send(pod)));
  }

  /** Never cut off: the API server may have taken it from the budget already, which then counts the pod as gone for two minutes. */
  #send(pod: PodIdentity): Promise<EvictionResult> {
    const sent = this.#evictions.evict(pod);
    this.#sent.add(sent);
    const answered = (): void => void this.#sent.delete(sent);
    sent.then(answered, answered);
    return sent;
  }

  /** Resolves when every request that is on its way now has been answered, however. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#sent);
  }
}

export interface EvictorOptions {
  readonly queue: EvictionQueue;
  readonly metrics: Pick<Metrics, 'evictions'>;
  readonly clock: Clock;
  readonly random: Random;
  /** Most requests of this drain in flight. How long pods take to end does not count. */
  readonly maxInFlight: number;
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

/** Asks for the eviction of one drain's pods until each is accepted, whatever the answers in between. */
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
  setTargets(pods: readonly Pod[]): void {
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
  blocked(): Blocked {
    return new Map([...this.#tasks].flatMap(([uid, { blocked }]) => (blocked === undefined ? [] : [[uid, blocked]])));
  }

  async #evict(pod: Pod, task: Task): Promise<void> {
    const { clock, signal, onBlocked } = this.#options;
    const cancelled = AbortSignal.any([signal, task.cancel.signal]);
    for (let attempt = 0; !cancelled.aborted; attempt++) {
      const failure = await this.#limiter.run(() => this.#ask(pod, cancelled));
      const why = failure && describe(failure);
      if (why !== task.blocked) {
        if (why === undefined) delete task.blocked;
        else task.blocked = why;
        onBlocked();
      }
      if (!failure) return;
      await clock.sleep(this.#delay(failure, attempt), cancelled).catch(() => undefined);
    }
  }

  /** Undefined when nothing is left to ask for. */
  async #ask({ metadata: { namespace = '', name, uid } }: Pod, cancelled: AbortSignal): Promise<Failure | undefined> {
    const { queue, metrics } = this.#options;
    const result = await queue
      .evict({ namespace, name, uid }, cancelled)
      .catch((error: unknown): Failure => ({ kind: 'refused', status: 0, message: messageOf(error) }));
    if (!result) return undefined;
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
