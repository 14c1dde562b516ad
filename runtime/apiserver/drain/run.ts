import type { Clock } from '../../lib/clock.ts';
import { NODES_PATH } from '../../kube/nodes.ts';
import type { Node } from '../../kube/objects.ts';
import { watchOne } from '../../kube/one.ts';
import { readMarks } from '../../marks/marks.ts';
import type { Ports } from '../ports.ts';
import type { Admitted } from './admission.ts';
import { drainSet, leaving } from './drain-set.ts';
import { Elsewhere, otherNodeTakesPods } from './elsewhere.ts';
import { Evictor } from './evictor.ts';
import type { Limiter } from './limiter.ts';
import { podsOn } from './node-pods.ts';
import { ProgressWriter } from './progress.ts';

/** How one run of a drain ended. Whoever waits for it looks for himself at what is true then. */
export type RunEnd =
  /** No pod of the drain set is in sight any more. */
  | 'empty'
  /** The marks are gone or another drain's. */
  | 'superseded'
  /** Somebody uncordoned the node. */
  | 'uncordoned'
  /** The deadline has come. */
  | 'deadline'
  /** This replica ends, or nobody has waited for a while. */
  | 'closed';

export interface RunOptions {
  readonly nodeName: string;
  readonly admitted: Admitted;
  /** Milliseconds since the Unix epoch; undefined = no deadline. */
  readonly deadline: number | undefined;
  /** Most eviction requests in flight. */
  readonly maxInFlight: number;
  /** The places in flight of all runs together. */
  readonly places: Limiter;
  /** Ends the run as `closed`. */
  readonly signal: AbortSignal;
}

/** Evicts the pods of a cordoned node for as long as it bears the marks of this drain. One per node and replica. */
export class DrainRun {
  readonly #ports: Ports;
  readonly #options: RunOptions;
  #evictor: Evictor | undefined;

  constructor(ports: Ports, options: RunOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /** By UID: why a pod could not be evicted at the last try. */
  blocked(): ReadonlyMap<string, string> {
    return this.#evictor?.blocked() ?? new Map();
  }

  /** Runs to its end. It outlives outages of what it follows. */
  async run(): Promise<RunEnd> {
    const end = new AbortController();
    const signal = AbortSignal.any([end.signal, this.#options.signal]);
    try {
      return await Promise.race([
        this.#untilMarksChange(signal),
        this.#untilEmpty(signal),
        untilInstant(this.#ports.clock, this.#options.deadline, signal),
      ]);
    } finally {
      end.abort();
    }
  }

  async #untilMarksChange(signal: AbortSignal): Promise<RunEnd> {
    const { transport, clock, random } = this.#ports;
    const { nodeName, admitted } = this.#options;
    for await (const node of watchOne<Node>(transport, { path: NODES_PATH, name: nodeName, clock, random, signal })) {
      if (!node || readMarks(node)?.id !== admitted.id) return 'superseded';
      if (node.spec?.unschedulable !== true) return 'uncordoned';
    }
    return 'closed';
  }

  async #untilEmpty(signal: AbortSignal): Promise<RunEnd> {
    const { nodeName, admitted, maxInFlight, places } = this.#options;
    const progress = new ProgressWriter(this.#ports, { nodeName, admitted, signal });
    const report = (): void => progress.report(left, evictor.blocked());
    const evictor = new Evictor({ ...this.#ports, maxInFlight, places, signal, onBlocked: report });
    const terms = { lateAfter: admitted.lateAfter, namespace: this.#ports.namespace };
    const { transport, clock } = this.#ports;
    const elsewhere = new Elsewhere(() => otherNodeTakesPods(transport, nodeName, signal), clock);
    let left = drainSet([], terms);
    this.#evictor = evictor;
    for await (const pods of podsOn(this.#ports, nodeName, signal)) {
      const set = drainSet(pods, terms);
      if (set.pods.length > 0) evictor.aim(set.pods);
      left = await leaving(set, () => (set.pods.length > 0 ? elsewhere.presumed() : elsewhere.now()));
      if (left.pods.length + left.own.length === 0) return 'empty';
      evictor.aim(left.pods.length > 0 ? left.pods : left.own);
      report();
    }
    return 'closed';
  }
}

async function untilInstant(clock: Clock, instant: number | undefined, signal: AbortSignal): Promise<RunEnd> {
  try {
    await clock.sleep(instant === undefined ? Number.MAX_SAFE_INTEGER : instant - clock.now(), signal);
    return 'deadline';
  } catch {
    return 'closed';
  }
}
