import { ConflictError } from '../../kube/errors.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { randomId } from '../../lib/random.ts';
import { readMarks } from '../../api/marks/marks.ts';
import { drainedPatch } from '../../api/marks/patches.ts';
import type { VerifiedAgent } from '../auth/authenticator.ts';
import type { Ports } from '../ports.ts';
import { RefusedError } from '../refusal.ts';
import { forgetRefusal, tellRefusal } from '../refused-writes.ts';
import { cordonForDrain, type Joined, superseded } from './cordon.ts';
import { type Drain, type DrainSettings, nextStep } from '../../drain/drain.ts';
import { drainFailed, drainFinished, volumesInUse } from './events.ts';
import { EvictionQueue } from './evictor.ts';
import { podsLeft } from '../../drain/filter.ts';
import { beginEvicting } from './let-finish.ts';
import { podName } from '../../drain/pod.ts';
import { DrainRun, type RunEnd } from './run.ts';
import { describeLeft, reportEmpty, reportFailed } from './status.ts';
import { awaitVolumes } from './volumes.ts';
import { tellStuck } from './warnings.ts';

interface DrainRequest {
  /** Aborts when nobody waits for the answer any more. The drain then continues until the agent's next request may have come. */
  readonly gone?: AbortSignal | undefined;
  /** Identity of the request, for the log lines of what it begins. */
  readonly request?: string | undefined;
}

/** After a look at the node: the run to wait for; the node is proven to be empty; or somebody changed it, so look again. */
type Outcome = DrainRun | 'proven' | 'changed';

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
    this.#queue = new EvictionQueue(ports.evictions, { clock: ports.clock, maxPerDrain: settings.maxInFlight });
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
    const signal = AbortSignal.any([this.#closing.signal, ...(gone ? [gone] : [])]);
    const settings = this.#settings;
    let joined: Joined | undefined;
    for (;;) {
      if (this.#closing.signal.aborted) throw shuttingDown();
      const drain = await cordonForDrain(ports, { agent, settings, joined });
      const outcome = await this.#act(ports, drain, signal);
      if (outcome === 'proven') return;
      joined = outcome === 'changed' ? { id: drain.id, blocked: drain.blocked } : await waitFor(outcome, gone);
    }
  }

  async #act(ports: Ports, drain: Drain, signal: AbortSignal): Promise<Outcome> {
    const step = nextStep(drain, { ...this.#settings, now: ports.clock.now() });
    switch (step.kind) {
      case 'begin':
        await beginEvicting(ports, drain);
        return 'changed';
      case 'prove':
        return (await this.#proveEmpty(ports, drain, signal)) ? 'proven' : 'changed';
      case 'refuse':
        await reportFailed(ports, drain);
        throw this.#tooLate(drain);
      case 'wait':
        return this.#join(ports, drain);
      default:
        throw new TypeError(`no such step: ${JSON.stringify(step satisfies never)}`);
    }
  }

  /**
   * The proof is a write with the version of the node that was seen cordoned before the pods were listed. If somebody had uncordoned the
   * node in between, even for a moment, the write would fail.
   */
  async #proveEmpty(ports: Ports, drain: Drain, signal: AbortSignal): Promise<boolean> {
    const { node, id, list } = drain;
    const { clock, logger } = ports;
    const inUse = await this.#prove(ports, drain, signal).catch(async (error: unknown) => {
      if (error instanceof ConflictError) return undefined;
      await tellRefusal(ports, { ...drain, write: 'proof' }, error);
      throw this.#isTooLate(drain, clock.now()) ? this.#tooLate(drain) : error;
    });
    if (!inUse) return false;
    await forgetRefusal(ports, drain);
    if (readMarks(node)?.drained === undefined) {
      tellStuck(ports, drain);
      tellFinished(ports, drain, inUse);
    }
    const [tolerating, returned] = [list.tolerating.map(podName), list.returned.map(podName)];
    logger.info('node drained', { node: node.metadata.name, drain: id, tolerating, returned, volumes: inUse });
    return true;
  }

  /** @returns the volumes that are still in use; undefined where there is no proof yet @throws ConflictError */
  async #prove(ports: Ports, drain: Drain, signal: AbortSignal): Promise<readonly string[] | undefined> {
    const inUse = await awaitVolumes(ports, { drain, timeoutMs: this.#settings.volumesMs, signal });
    const { node, id } = drain;
    const { nodes, clock, random } = ports;
    const patch = inUse && drainedPatch(node, id, { id: randomId(random), now: rfc3339(clock.now()) });
    if (!patch) return undefined;
    await nodes.patch(node.metadata.name, { ...patch });
    return inUse;
  }

  #join(ports: Ports, drain: Drain): DrainRun {
    const { name } = drain.node.metadata;
    const before = this.#runs.get(name);
    if (before?.id === drain.id) return before;
    const run = new DrainRun(ports, drain, {
      settings: this.#settings,
      queue: this.#queue,
      signal: this.#closing.signal,
    });
    this.#runs.set(name, run);
    this.#start(run, drain);
    return run;
  }

  #start(run: DrainRun, { node, since }: Drain): void {
    const { metrics } = this.#ports;
    const { name } = node.metadata;
    metrics.drainsRunning.inc();
    const over = (end?: RunEnd): void => {
      metrics.drainsRunning.dec();
      if (end === 'superseded') metrics.drains.inc({ result: end });
      if (this.#runs.get(name) === run) this.#runs.delete(name);
      // Those who wait check the node themselves. If nobody waits, the status wakes the agent, which asks again.
      if (end === 'prove' && !run.isAwaited) void reportEmpty(this.#ports, { name, since }, this.#closing.signal);
    };
    // A failure goes to those who wait for the run. If nobody waits, the next request begins another run.
    run.start().then(over, () => over());
  }

  #isTooLate({ since }: Drain, now: number): boolean {
    const { timeoutMs } = this.#settings;
    return timeoutMs > 0 && now >= Date.parse(since) + timeoutMs;
  }

  /** Undoes nothing: the agent reports the failure and releases the node once that is known to the controller. */
  #tooLate({ node, id, list, blocked, progress }: Drain): RefusedError {
    const pods = describeLeft(podsLeft(list), blocked, progress);
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

/** @throws RefusedError 503 where the drain is another's by then */
async function waitFor(run: DrainRun, gone: AbortSignal | undefined): Promise<Joined> {
  const end = await run.wait(gone);
  if (end === 'superseded') throw superseded();
  return { id: run.id, blocked: run.blocked(), ...(end === 'prove' && { node: run.node }) };
}

function tellFinished({ events, metrics, clock }: Ports, { node, since, list }: Drain, inUse: readonly string[]): void {
  const seconds = Math.max(0, clock.now() - Date.parse(since)) / 1000;
  metrics.drains.inc({ result: 'drained' });
  metrics.drainDuration.observe(seconds);
  if (inUse.length > 0) void events.record(node, volumesInUse(inUse));
  void events.record(node, drainFinished(seconds, list));
}

function shuttingDown(): RefusedError {
  return new RefusedError(503, 'ShuttingDown', 'this replica ends; ask again');
}
