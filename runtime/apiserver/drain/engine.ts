import { ConflictError } from '../../kube/errors.ts';
import type { Pod } from '../../kube/objects.ts';
import { keyOf } from '../../kube/reflector.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { randomId } from '../../lib/random.ts';
import { readMarks } from '../../marks/marks.ts';
import { drainedPatch } from '../../marks/patches.ts';
import type { VerifiedAgent } from '../auth/authenticator.ts';
import type { Preflight } from '../config.ts';
import type { Ports } from '../ports.ts';
import { RefusedError } from '../refusal.ts';
import { type CordonedNode, cordonForDrain, type CordonRequest, superseded } from './cordon.ts';
import { EvictionQueue } from './evictor.ts';
import { filterListed, listPodsOn, type PodDeleteList, podsLeft } from './filter.ts';
import { DrainRun, type RunEnd } from './run.ts';
import { describeLeft, drainFailed, drainFinished, drainStarted, reportEmpty, volumesInUse } from './status.ts';
import { awaitVolumes } from './volumes.ts';

export interface DrainSettings {
  /** What to do with a drain that could not end as things are. */
  readonly preflight: Preflight;
  /** How long a drain may take from its beginning, milliseconds; 0 = for ever. */
  readonly timeoutMs: number;
  /** Most eviction requests in flight for one drain. */
  readonly maxInFlight: number;
  /** How long a drain may wait for the volumes of its pods, milliseconds; 0 = not at all. */
  readonly volumesMs: number;
}

/** Who asks for a drain. */
interface DrainRequest {
  /** Aborts when nobody waits for the answer any more. The drain then continues until the agent's next request may have come. */
  readonly gone?: AbortSignal | undefined;
  /** Identity of the request, for the log lines of what it begins. */
  readonly request?: string | undefined;
}

/** What a request has learnt from the runs that it waited for. */
type Learnt = Pick<CordonRequest, 'id' | 'blocked'>;

/** One look of a request at its node. */
interface Look {
  /** With the identity of the request on each log line. */
  readonly ports: Ports;
  readonly cordoned: CordonedNode;
  readonly learnt: Learnt;
  readonly gone: AbortSignal | undefined;
}

const REMEMBERED = 1000;

/**
 * Drains nodes for their agents. All lasting state is on the node and in its shadow. A request joins the run that this replica has for the
 * node, or begins one. Any replica continues where another stopped.
 */
export class DrainEngine {
  readonly #ports: Ports;
  readonly #settings: DrainSettings;
  readonly #queue: EvictionQueue;
  /** Runs that a request may join, by node name. */
  readonly #runs = new Map<string, DrainRun>();
  readonly #closing = new AbortController();
  /** Drains whose timeout has been reported. */
  readonly #timedOut = new BoundedMap<string, true>(REMEMBERED);

  constructor(ports: Ports, settings: DrainSettings) {
    this.#ports = ports;
    this.#settings = settings;
    this.#queue = new EvictionQueue(ports.evictions, { maxPerDrain: settings.maxInFlight });
  }

  /** Ends every run. Whoever waits is told to ask again, and finds another replica. */
  close(): void {
    this.#closing.abort(shuttingDown());
  }

  /** Resolves when every eviction that was asked for has been answered: one that is cut off may have used up its budget for nothing. */
  settled(): Promise<void> {
    return this.#queue.settled();
  }

  /**
   * Cordons and drains the agent's node. Resolves only when the node was proven to be, at one moment, cordoned by this drain and empty.
   * @throws RefusedError 409 where no drain is allowed, 503 = ask again, 504 past the deadline; errors of the transport = ask again
   */
  async drain(agent: VerifiedAgent, { gone, request }: DrainRequest = {}): Promise<void> {
    const ports = { ...this.#ports, logger: this.#ports.logger.with(request === undefined ? {} : { request }) };
    let learnt: Learnt = {};
    for (;;) {
      if (this.#closing.signal.aborted) throw shuttingDown();
      const cordoned = await cordonForDrain(ports, { ...this.#settings, ...learnt, agent });
      if (cordoned.begun) void ports.events.record(cordoned.node, drainStarted(cordoned.progress.pods_left));
      const pods = cordoned.pods ?? (await readPods(ports, cordoned));
      const left = podsLeft(pods);
      const look = { ports, cordoned, learnt, gone };
      if (left.length > 0) learnt = await this.#waitFor(left, look);
      else if (await this.#proveEmpty(pods, look)) return;
      else learnt = { ...learnt, id: cordoned.id };
    }
  }

  /**
   * The proof is a write with the version of the node that was seen cordoned before the pods were listed. If somebody had uncordoned the
   * node in between, even for a moment, the write would fail.
   */
  async #proveEmpty(pods: PodDeleteList, look: Look): Promise<boolean> {
    const inUse = await this.#volumesInUse(pods, look);
    if (!inUse) return false;
    const { ports, cordoned } = look;
    const { node, id } = cordoned;
    const { nodes, clock, random, logger } = ports;
    const patch = drainedPatch(node, id, { id: randomId(random), now: rfc3339(clock.now()) });
    if (!patch) return false;
    try {
      await nodes.patch(node.metadata.name, { ...patch });
    } catch (error) {
      if (error instanceof ConflictError) return false;
      throw error;
    }
    if (readMarks(node)?.drained === undefined) tellFinished(look, pods, inUse);
    const tolerating = pods.tolerating.map(keyOf);
    logger.info('node drained', { node: node.metadata.name, drain: id, tolerating, volumes: inUse });
    return true;
  }

  /** The volumes that the drain no longer waits for; undefined where the node has to be read again. */
  #volumesInUse({ staying }: PodDeleteList, { ports, cordoned, gone }: Look): Promise<readonly string[] | undefined> {
    const signal = AbortSignal.any([this.#closing.signal, ...(gone ? [gone] : [])]);
    return awaitVolumes(ports, { cordoned, staying, timeoutMs: this.#settings.volumesMs, signal });
  }

  async #waitFor(left: readonly Pod[], look: Look): Promise<Learnt> {
    const { cordoned, gone } = look;
    const deadline = this.#deadline(cordoned);
    if (deadline !== undefined && this.#ports.clock.now() >= deadline) throw this.#tooLate(left, look);
    const run = this.#join(look, deadline);
    const end = await run.wait(gone);
    if (end === 'superseded') throw superseded();
    return { id: cordoned.id, blocked: run.blocked() };
  }

  /** Every replica computes the same instant, because the time counts from what is written on the node. */
  #deadline({ since }: CordonedNode): number | undefined {
    const { timeoutMs } = this.#settings;
    return timeoutMs === 0 ? undefined : Date.parse(since) + timeoutMs;
  }

  #join({ ports, cordoned }: Look, deadline: number | undefined): DrainRun {
    const nodeName = cordoned.node.metadata.name;
    const before = this.#runs.get(nodeName);
    if (before?.id === cordoned.id) return before;
    const run = new DrainRun(ports, { cordoned, deadline, queue: this.#queue, signal: this.#closing.signal });
    this.#runs.set(nodeName, run);
    this.#start(run, cordoned);
    return run;
  }

  #start(run: DrainRun, { node, since }: CordonedNode): void {
    const { metrics } = this.#ports;
    metrics.drainsRunning.inc();
    const over = (end?: RunEnd): void => {
      metrics.drainsRunning.dec();
      if (end === 'superseded') metrics.drains.inc({ result: end });
      if (this.#runs.get(node.metadata.name) === run) this.#runs.delete(node.metadata.name);
      // Those who wait check the node themselves. If nobody waits, the status wakes the agent, which asks again.
      if (end === 'empty' && !run.isAwaited) void reportEmpty(this.#ports, { node, since }, this.#closing.signal);
    };
    // A failure goes to those who wait for the run. If nobody waits, the next request begins another run.
    run.start().then(over, () => over());
  }

  /** Undoes nothing: the agent reports the failure and releases the node once that is known to the controller. */
  #tooLate(left: readonly Pod[], { cordoned: { node, id, progress }, learnt }: Look): RefusedError {
    const pods = describeLeft(left, learnt.blocked, progress);
    const message = `the drain did not end within ${this.#settings.timeoutMs / 1000} s; ${pods}`;
    // Several requests can wait for one drain, and an agent whose answer was lost asks again.
    if (!this.#timedOut.get(id)) {
      this.#timedOut.set(id, true);
      this.#ports.metrics.drains.inc({ result: 'timeout' });
      void this.#ports.events.record(node, drainFailed(message));
    }
    return new RefusedError(504, 'DrainTimeout', message);
  }
}

/** Read only now, after the node was cordoned. */
async function readPods(ports: Ports, { node, lateAfter }: CordonedNode): Promise<PodDeleteList> {
  const nodeName = node.metadata.name;
  return filterListed(ports, await listPodsOn(ports, nodeName), { nodeName, lateAfter });
}

function tellFinished(
  { ports: { events, metrics, clock }, cordoned: { node, since } }: Look,
  { tolerating }: PodDeleteList,
  inUse: readonly string[],
): void {
  const seconds = Math.max(0, clock.now() - Date.parse(since)) / 1000;
  metrics.drains.inc({ result: 'drained' });
  metrics.drainDuration.observe(seconds);
  if (inUse.length > 0) void events.record(node, volumesInUse(inUse));
  void events.record(node, drainFinished(seconds, tolerating));
}

function shuttingDown(): RefusedError {
  return new RefusedError(503, 'ShuttingDown', 'this replica ends; ask again');
}
