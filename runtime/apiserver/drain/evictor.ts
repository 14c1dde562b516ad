import type { EvictionPort, EvictionResult, PodIdentity } from '../../kube/evictions.ts';
import { MAX_SLOW_REQUESTS } from '../../kube/transport.ts';
import { unlessAborted, withDeadline } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import { FairLimiter } from '../../lib/fair-limiter.ts';
import type { Random } from '../../lib/random.ts';
import { backoff, Streak } from '../../lib/retry.ts';
import type { Metrics } from '../metrics.ts';
import type { Cover } from '../../drain/cover.ts';
import type { Blocked } from '../../drain/drain.ts';
import { type DrainPod, originOf } from '../../drain/pod.ts';

interface EvictionQueueOptions {
  readonly clock: Clock;
  /** Most requests of one drain in flight. How long pods take to end does not count. */
  readonly maxPerDrain: number;
  /** Most requests in flight. @default as many as the transport sends at once */
  readonly max?: number;
}

/**
 * How long an eviction keeps others of its budget waiting at most, milliseconds. Where two of one budget meet in the API server, the one that comes too
 * late for the budget's version sleeps there for so long (`EvictionsRetry`), and meets others then. Mostly the answer comes sooner. With a tenth of
 * a second they met again where the API server was busy, and drains of ten nodes took longer.
 */
const TURN_MS = 500;

interface QueuedEviction {
  /** Identity of the drain that wants it. */
  readonly drain: string;
  readonly pod: PodIdentity;
  /** Which covers the pod; undefined where none does. */
  readonly budget?: string | undefined;
}

/**
 * The eviction requests of all drains of a replica. An eviction waits for its turn here, where it can still be dropped, and never in the
 * transport. Those of one budget go one after the other.
 */
export class EvictionQueue {
  readonly #evictions: EvictionPort;
  readonly #limiter: FairLimiter;
  readonly #ofBudget = new FairLimiter({ max: Infinity, maxPerParty: 1 });
  readonly #clock: Clock;
  readonly #sent = new Set<Promise<EvictionResult>>();

  constructor(evictions: EvictionPort, { clock, maxPerDrain, max = MAX_SLOW_REQUESTS }: EvictionQueueOptions) {
    this.#evictions = evictions;
    this.#clock = clock;
    this.#limiter = new FairLimiter({ max, maxPerParty: maxPerDrain });
  }

  /**
   * Undefined where `cancelled` aborted before the request was sent.
   * @throws what the port throws
   */
  async evict(wanted: QueuedEviction, cancelled: AbortSignal): Promise<EvictionResult | undefined> {
    const { drain, pod, budget } = wanted;
    const send = (): Promise<EvictionResult | undefined> =>
      this.#limiter.run(drain, async () => (cancelled.aborted ? undefined : this.#send(pod)));
    if (budget === undefined) return send();
    let sent: Promise<EvictionResult | undefined> | undefined;
    await this.#ofBudget.run(budget, async () => {
      if (cancelled.aborted) return;
      const own = (sent = send());
      const turn = { clock: this.#clock, ms: TURN_MS };
      await withDeadline(turn, (over) => unlessAborted(own, over)).catch(() => undefined);
    });
    return sent;
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

interface EvictorOptions {
  readonly queue: EvictionQueue;
  /** Identity of the drain. */
  readonly drain: string;
  readonly cover: Cover;
  readonly metrics: Pick<Metrics, 'evictions'>;
  readonly clock: Clock;
  readonly random: Random;
  /** Ends everything but the requests that are on their way. */
  readonly signal: AbortSignal;
  /** Called when `blocked` changes. */
  readonly onBlocked: () => void;
}

interface Task {
  /** Ends the wait for the next try. A request that is on its way is left to end, so that the bound on requests holds. */
  readonly cancel: AbortController;
  /** Before the first try. */
  readonly delayMs: number;
  /** Why the last try failed. */
  blocked?: string;
}

/** The last evictions of what one controller puts on the node. */
interface Turn {
  /** When they are, or were: monotonic, milliseconds. */
  readonly at: number;
  /** How often it has put others here after such a time. */
  readonly returns: number;
  readonly uids: ReadonlySet<string>;
}

type EvictionFailure = Extract<EvictionResult, { kind: 'blocked' | 'refused' }>;

const BLOCKED_BACKOFF = { firstMs: 500, maxMs: 5_000 };
const REFUSED_BACKOFF = { firstMs: 1_000, maxMs: 15_000 };
const RETURNED_BACKOFF = { firstMs: 2_000, maxMs: 60_000, random: () => 0.5 };
/** How often what a controller has put on the node again is evicted. */
const MAX_RETURNS = 3;

/** Asks for the eviction of one drain's pods until each is accepted, whatever the answers in between. */
export class Evictor {
  readonly #options: EvictorOptions;
  /** By UID of the pod. */
  readonly #tasks = new Map<string, Task>();
  readonly #turns = new Map<string, Turn>();

  constructor(options: EvictorOptions) {
    this.#options = options;
  }

  /** Evicts exactly these pods from now on. Those that are ending already need no eviction. */
  setTargets(pods: readonly DrainPod[]): void {
    const wanted = new Map(pods.filter(({ due }) => due === undefined).map((pod) => [pod.uid, pod]));
    for (const [uid, task] of this.#tasks) {
      if (wanted.has(uid)) continue;
      task.cancel.abort();
      this.#tasks.delete(uid);
    }
    const now = this.#options.clock.monotonic();
    const added = [...wanted.values()].filter(({ uid }) => !this.#tasks.has(uid));
    const turns = this.#turnsOf(added, now);
    for (const pod of added) {
      const task: Task = { cancel: new AbortController(), delayMs: (turns.get(originOf(pod))?.at ?? now) - now };
      this.#tasks.set(pod.uid, task);
      void this.#evict(pod, task);
    }
  }

  /** What has put another pod on the node as often as one was evicted. */
  returning(): readonly string[] {
    return [...this.#turns].flatMap(([origin, { returns }]) => (returns > MAX_RETURNS ? [origin] : []));
  }

  /**
   * Of the pods that are new, when each is evicted (monotonic, milliseconds). Those of one controller that come together go together; those
   * that it puts here again go ever later.
   */
  #turnsOf(pods: readonly DrainPod[], now: number): ReadonlyMap<string, Turn> {
    for (const [origin, together] of Map.groupBy(pods, originOf)) {
      const last = this.#turns.get(origin) ?? { at: now, returns: -1, uids: new Set() };
      const isReturn = now >= last.at && together.some(({ uid }) => !last.uids.has(uid));
      const pause = last.returns < 0 ? 0 : backoff(last.returns, RETURNED_BACKOFF);
      const uids = new Set([...last.uids, ...together.map(({ uid }) => uid)]);
      const next = isReturn ? { at: Math.max(now, last.at + pause), returns: last.returns + 1 } : last;
      this.#turns.set(origin, { ...next, uids });
    }
    return this.#turns;
  }

  /** By UID: why a pod could not be evicted at the last try. */
  blocked(): Blocked {
    return new Map([...this.#tasks].flatMap(([uid, { blocked }]) => (blocked === undefined ? [] : [[uid, blocked]])));
  }

  async #evict(pod: DrainPod, task: Task): Promise<void> {
    const { clock, signal } = this.#options;
    const cancelled = AbortSignal.any([signal, task.cancel.signal]);
    if (task.delayMs > 0) await clock.sleep(task.delayMs, cancelled).catch(() => undefined);
    const busy = new Streak(clock);
    for (let attempt = 0; !cancelled.aborted; attempt++) {
      const failure = await this.#ask(pod, cancelled);
      const busyMs = busy.note(isBusy(failure));
      if (!isBusy(failure) || busyMs >= TOLD_BUSY_MS) this.#note(task, failure);
      if (!failure) return;
      await clock.sleep(this.#delay(failure, attempt), cancelled).catch(() => undefined);
    }
  }

  #note(task: Task, failure: EvictionFailure | undefined): void {
    const why = failure && describe(failure);
    if (why === task.blocked) return;
    if (why === undefined) delete task.blocked;
    else task.blocked = why;
    this.#options.onBlocked();
  }

  /** Undefined when nothing is left to ask for. */
  async #ask({ namespace, name, uid }: DrainPod, cancelled: AbortSignal): Promise<EvictionFailure | undefined> {
    const { queue, drain, cover, metrics } = this.#options;
    const budget = cover.find(({ left }) => left.includes(uid))?.name;
    const result = await queue
      .evict({ drain, pod: { namespace, name, uid }, budget }, cancelled)
      .catch((error: unknown): EvictionFailure => ({ kind: 'refused', status: 0, message: messageOf(error) }));
    if (!result) return undefined;
    metrics.evictions.inc({ result: result.kind });
    return result.kind === 'blocked' || result.kind === 'refused' ? result : undefined;
  }

  #delay(failure: EvictionFailure, attempt: number): number {
    const { random } = this.#options;
    if (failure.kind === 'refused') return backoff(attempt, { ...REFUSED_BACKOFF, random });
    // Nothing keeps the pod, and no drain comes before this one.
    if (isBusy(failure) && failure.retryAfterMs !== undefined) return failure.retryAfterMs;
    return Math.max(failure.retryAfterMs ?? 0, backoff(attempt, { ...BLOCKED_BACKOFF, random }));
  }
}

/** An API server that is busy keeps no pod from going. For how long it has to be so before people are told, milliseconds. */
const TOLD_BUSY_MS = 10_000;

const isBusy = (failure: EvictionFailure | undefined): failure is Extract<EvictionFailure, { kind: 'blocked' }> =>
  failure?.kind === 'blocked' && failure.isBusy === true;

/** Characters kept of a message. It may be a webhook's and of any length. */
const LONGEST_MESSAGE = 300;

/** In stable words, because they go into the resource's status. */
function describe(failure: EvictionFailure): string {
  if (failure.kind === 'refused') {
    const message = failure.message.slice(0, LONGEST_MESSAGE);
    return failure.status === 0 ? message : `refused with ${failure.status}: ${message}`;
  }
  return failure.by.join(', ');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'no answer';
}
