import { ConflictError } from '../../kube/errors.ts';
import type { Pod } from '../../kube/objects.ts';
import { MAX_SLOW_REQUESTS } from '../../kube/transport.ts';
import { aborted } from '../../lib/abort.ts';
import { BoundedSet } from '../../lib/bounded-set.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { readMarks } from '../../marks/marks.ts';
import { drainedPatch } from '../../marks/patches.ts';
import type { Agent } from '../agent.ts';
import type { Preflight } from '../config.ts';
import { randomId } from '../ids.ts';
import type { Ports } from '../ports.ts';
import { RefusedError } from '../refusal.ts';
import { type Admitted, admit, superseded } from './admission.ts';
import { drainFailed, drainFinished, drainStarted, volumesInUse } from './events.ts';
import { Limiter } from './limiter.ts';
import { stateEmpty } from './progress.ts';
import { DrainRun, type RunEnd } from './run.ts';
import { statedReasons } from './stated.ts';
import { type Survey, type SurveyOf, survey } from './survey.ts';
import { UnderWay } from './under-way.ts';
import { awaitVolumes } from './volumes.ts';
import { Waiters } from './waiters.ts';
import { type Blocked, describeLeft, nameOf } from './words.ts';

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

const REMEMBERED = 1000;

/** A run that any request may join. */
interface Running {
  readonly id: string;
  readonly run: DrainRun;
  readonly ended: Promise<RunEnd>;
  readonly waiters: Waiters;
}

/** What a request has learnt from the runs that it waited for. */
interface Joined {
  /** Identity of the drain; undefined before the first look. */
  readonly id: string | undefined;
  /** Why pods could not be evicted so far; undefined where it has not waited for any run. */
  readonly blocked: Blocked | undefined;
}

/**
 * Drains nodes for their agents. All that lasts is on the node and in its shadow: a request joins the run that this replica has for the
 * node or begins one, and any replica goes on where another stopped.
 */
export class DrainEngine {
  readonly #ports: Ports;
  readonly #evictions: UnderWay;
  readonly #settings: DrainSettings;
  /** As many as the transport sends at once: an eviction waits here, where it is not sent once it is not wanted, and never there. */
  readonly #places = new Limiter(MAX_SLOW_REQUESTS);
  /** By node name. */
  readonly #running = new Map<string, Running>();
  readonly #closing = new AbortController();
  /** Drains whose end past the deadline has been told. */
  readonly #timedOut = new BoundedSet<string>(REMEMBERED);

  constructor(ports: Ports, settings: DrainSettings) {
    this.#evictions = new UnderWay(ports.evictions);
    this.#ports = { ...ports, evictions: this.#evictions };
    this.#settings = settings;
  }

  /** Ends every run. Who waits is told to ask again, and finds another replica. */
  close(): void {
    this.#closing.abort(shuttingDown());
  }

  /** Resolves when every eviction that was asked for has been answered: one that is cut off may have used up its budget for nothing. */
  settled(): Promise<void> {
    return this.#evictions.settled();
  }

  /**
   * Cordons and drains the agent's node. Resolves only when the node was proven to be, at one moment, cordoned by this drain and empty.
   * @throws RefusedError 409 where no drain is allowed, 503 = ask again, 504 past the deadline; errors of the transport = ask again
   */
  async drain(agent: Agent, { gone, request }: DrainRequest = {}): Promise<void> {
    const ports = { ...this.#ports, logger: this.#ports.logger.with(request === undefined ? {} : { request }) };
    let joined: Joined = { id: undefined, blocked: undefined };
    for (;;) {
      if (this.#closing.signal.aborted) throw shuttingDown();
      const admitted = await this.#admit(ports, agent, joined);
      const seen = admitted.survey ?? (await survey(this.#ports, seenOn(admitted)));
      const wait = { ports, admitted, joined, gone };
      if (seen.left.length > 0) joined = await this.#waitFor(seen.left, wait);
      else if (await this.#proveEmpty(wait, seen)) return;
      else joined = { ...joined, id: admitted.id };
    }
  }

  async #admit(ports: Ports, agent: Agent, { id, blocked }: Joined): Promise<Admitted> {
    const admitted = await admit(ports, { ...this.#settings, agent, id, blocked });
    if (admitted.begun) void ports.events.record(admitted.node, drainStarted(admitted.progress.pods_left));
    return admitted;
  }

  /**
   * The proof is a write with the version of the node that was seen cordoned before the pods were listed: had somebody uncordoned it in
   * between, even for a moment, the write would fail.
   */
  async #proveEmpty(wait: Wait, seen: Survey): Promise<boolean> {
    const inUse = await this.#volumes(wait, seen);
    if (!inUse) return false;
    const { ports, admitted } = wait;
    const { node, id } = admitted;
    const { nodes, clock, random, logger } = ports;
    const patch = drainedPatch(node, id, { id: randomId(random), now: rfc3339(clock.now()) });
    if (!patch) return false;
    try {
      await nodes.patch(node.metadata.name, { ...patch });
    } catch (error) {
      if (error instanceof ConflictError) return false;
      throw error;
    }
    if (readMarks(node)?.drained === undefined) tellFinished(ports, admitted, { ...seen, inUse });
    const tolerating = seen.tolerating.map(nameOf);
    logger.info('node drained', { node: node.metadata.name, drain: id, tolerating, volumes: inUse });
    return true;
  }

  /** The volumes that the drain no longer waits for; undefined where the node has to be looked at again. */
  #volumes({ ports, admitted, gone }: Wait, { staying }: Survey): Promise<readonly string[] | undefined> {
    const signal = AbortSignal.any([this.#closing.signal, ...(gone ? [gone] : [])]);
    return awaitVolumes(ports, { admitted, staying, timeoutMs: this.#settings.volumesMs, signal });
  }

  async #waitFor(left: readonly Pod[], wait: Wait): Promise<Joined> {
    const { admitted, gone } = wait;
    const deadline = this.#deadline(admitted);
    if (deadline !== undefined && this.#ports.clock.now() >= deadline) throw this.#tooLate(left, wait);
    const { ended, run, waiters } = this.#join(wait, deadline);
    const end = await waiters.wait(gone ? Promise.race([ended, aborted(gone)]) : ended);
    if (end === 'superseded') throw superseded();
    return { id: admitted.id, blocked: run.blocked() };
  }

  /** Every replica computes the same instant, because it counts from what is written on the node. */
  #deadline({ since }: Admitted): number | undefined {
    const { timeoutMs } = this.#settings;
    return timeoutMs === 0 ? undefined : Date.parse(since) + timeoutMs;
  }

  #join({ ports, admitted }: Wait, deadline: number | undefined): Running {
    const nodeName = admitted.node.metadata.name;
    const before = this.#running.get(nodeName);
    if (before?.id === admitted.id) return before;
    const { maxInFlight } = this.#settings;
    const waiters = new Waiters(ports.clock);
    const signal = AbortSignal.any([this.#closing.signal, waiters.absence]);
    const run = new DrainRun(ports, { nodeName, admitted, deadline, maxInFlight, places: this.#places, signal });
    const running = { id: admitted.id, run, ended: run.run(), waiters };
    this.#running.set(nodeName, running);
    this.#observe(admitted, running);
    return running;
  }

  #observe({ node, since }: Admitted, running: Running): void {
    const { metrics } = this.#ports;
    const nodeName = node.metadata.name;
    metrics.drainsRunning.inc();
    const over = (end?: RunEnd): void => {
      metrics.drainsRunning.dec();
      if (end === 'superseded') metrics.drains.inc({ result: end });
      if (this.#running.get(nodeName) === running) this.#running.delete(nodeName);
      // A waiter looks for itself. Where there is none, the status wakes the agent, which asks again.
      if (end === 'empty' && running.waiters.count === 0)
        void stateEmpty(this.#ports, { nodeName, since, signal: this.#closing.signal });
    };
    // A run fails where its waiters see it; with no waiters, the next request begins another.
    running.ended.then(over, () => over());
  }

  /** Undoes nothing: the agent reports the failure and releases the node once that is known to the controller. */
  #tooLate(left: readonly Pod[], { admitted, joined }: Wait): RefusedError {
    const pods = describeLeft(left, new Map([...statedReasons(admitted.progress, left), ...(joined.blocked ?? [])]));
    const message = `the drain did not end within ${this.#settings.timeoutMs / 1000} s; left: ${pods}`;
    // Several requests can wait for one drain, and an agent whose answer was lost asks again.
    if (!this.#timedOut.has(admitted.id)) {
      this.#timedOut.add(admitted.id);
      this.#ports.metrics.drains.inc({ result: 'timeout' });
      void this.#ports.events.record(admitted.node, drainFailed(message));
    }
    return new RefusedError(504, 'DrainTimeout', message);
  }
}

function tellFinished(
  { events, metrics, clock }: Ports,
  { node, since }: Admitted,
  { tolerating, inUse }: Pick<Survey, 'tolerating'> & { readonly inUse: readonly string[] },
): void {
  const now = clock.now();
  metrics.drains.inc({ result: 'drained' });
  metrics.drainDuration.observe(Math.max(0, now - Date.parse(since)) / 1000);
  if (inUse.length > 0) void events.record(node, volumesInUse(inUse));
  void events.record(node, drainFinished({ since, now, tolerating }));
}

/** Read only now, after the node was cordoned. */
function seenOn({ node, lateAfter }: Admitted): SurveyOf {
  return { nodeName: node.metadata.name, lateAfter };
}

/** Who asks for a drain. */
export interface DrainRequest {
  /** Aborts when nobody waits for the answer any more; the drain goes on for as long as the next request may take to come. */
  readonly gone?: AbortSignal | undefined;
  /** Identity of the request; log lines of what it began bear it. */
  readonly request?: string | undefined;
}

interface Wait {
  /** Its log lines bear the request. */
  readonly ports: Ports;
  readonly admitted: Admitted;
  readonly joined: Joined;
  readonly gone: AbortSignal | undefined;
}

function shuttingDown(): RefusedError {
  return new RefusedError(503, 'ShuttingDown', 'this replica ends; ask again');
}
