import type { Node, Pod } from '../../kube/objects.ts';
import { NODES_PATH, onNode, podsPath } from '../../kube/resources.ts';
import { watchOne } from '../../kube/watch-one.ts';
import { Informer } from '../../kube/informer.ts';
import { aborted } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import { Wakeup } from '../../lib/wakeup.ts';
import { readMarks } from '../../marks/marks.ts';
import type { Ports } from '../ports.ts';
import type { CordonedNode } from './cordon.ts';
import { type EvictionQueue, Evictor } from './evictor.ts';
import {
  type Blocked,
  filterFields,
  filterPods,
  keepOwnUnlessReschedulable,
  type PodDeleteList,
  podsLeft,
  Reschedule,
} from './filter.ts';
import { StatusWriter } from './status.ts';

/** How a run of a drain ended. Those who waited for it then check the node themselves. */
export type RunEnd =
  /** No pod that the drain must see gone is left. */
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
  readonly cordoned: CordonedNode;
  /** Milliseconds since the Unix epoch; undefined = no deadline. */
  readonly deadline: number | undefined;
  readonly queue: EvictionQueue;
  /** Ends the run as `closed`. */
  readonly signal: AbortSignal;
}

/** How long a run continues when nobody waits for it. An agent that asks this replica again has done so by then. */
const LONGEST_ABSENCE_MS = 10_000;

/** Evicts the pods of a cordoned node for as long as the node has the marks of this drain. There is one run for each node and replica. */
export class DrainRun {
  readonly #ports: Ports;
  readonly #options: RunOptions;
  readonly #nodeName: string;
  #evictor: Evictor | undefined;
  #ended: Promise<RunEnd> | undefined;
  #waiting = 0;
  /** Aborts when nobody has waited for a while. */
  readonly #abandoned = new AbortController();
  /** Aborts when somebody waits again, which ends that countdown. */
  #joined = new AbortController();

  constructor(ports: Ports, options: RunOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#nodeName = options.cordoned.node.metadata.name;
  }

  /** Identity of the drain. */
  get id(): string {
    return this.#options.cordoned.id;
  }

  get isAwaited(): boolean {
    return this.#waiting > 0;
  }

  /** By UID: why a pod could not be evicted at the last try. */
  blocked(): Blocked {
    return this.#evictor?.blocked() ?? new Map();
  }

  /** Resolves when the run ends. Outages of the API do not end it. */
  start(): Promise<RunEnd> {
    return (this.#ended ??= this.#run());
  }

  /**
   * Waits for the end. The agent's next request may reach another replica. If runs that nobody waits for continued, what each replica may
   * do for one drain would add up.
   * @param gone its reason is thrown when it aborts
   */
  async wait(gone?: AbortSignal): Promise<RunEnd> {
    this.#waiting++;
    this.#joined.abort();
    try {
      return await (gone ? Promise.race([this.start(), aborted(gone)]) : this.start());
    } finally {
      this.#waiting--;
      if (this.#waiting === 0) this.#countDown();
    }
  }

  #countDown(): void {
    this.#joined = new AbortController();
    const abandoned = this.#abandoned;
    // This callback does not capture `this`: a run that has ended would keep its node and pods in memory until then.
    const absence = this.#ports.clock.sleep(LONGEST_ABSENCE_MS, this.#joined.signal);
    absence.then(
      () => abandoned.abort(),
      () => undefined,
    );
  }

  async #run(): Promise<RunEnd> {
    const end = new AbortController();
    const signal = AbortSignal.any([end.signal, this.#options.signal, this.#abandoned.signal]);
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
    const watched = { path: NODES_PATH, name: this.#nodeName, clock, random, signal };
    for await (const node of watchOne<Node>(transport, watched)) {
      if (!node || readMarks(node)?.id !== this.id) return 'superseded';
      if (node.spec?.unschedulable !== true) return 'uncordoned';
    }
    return 'closed';
  }

  #untilEmpty(signal: AbortSignal): Promise<RunEnd> {
    const logger = this.#ports.logger.with({ node: this.#nodeName });
    const query = { fieldSelector: onNode(this.#nodeName) };
    const pods = new Informer({ ...this.#ports, logger, path: podsPath(), query, project: filterFields });
    return Promise.race([pods.run(signal).then((): RunEnd => 'closed'), this.#evict(pods, signal)]);
  }

  /** Until none of `pods` is left to evict, or the signal aborts. */
  async #evict(pods: Informer<Pod, Pod>, signal: AbortSignal): Promise<RunEnd> {
    const { cordoned, queue } = this.#options;
    const { clock, namespace } = this.#ports;
    const status = new StatusWriter(this.#ports, cordoned, signal);
    const report = (): void => {
      if (list) status.report(podsLeft(list), evictor.blocked());
    };
    const evictor = new Evictor({ ...this.#ports, queue, drain: this.id, signal, onBlocked: report });
    const terms = { lateAfter: cordoned.lateAfter, namespace };
    const reschedule = new Reschedule({ ...this.#ports, nodeName: this.#nodeName, signal });
    let list: PodDeleteList | undefined;
    this.#evictor = evictor;
    const changed = new Wakeup();
    pods.onChange(() => changed.ring());
    await pods.synced;
    for (; !signal.aborted; await changed.wait(clock, Infinity, signal)) {
      const all = filterPods([...pods.items().values()], terms);
      if (all.pods.length > 0) evictor.setTargets(all.pods);
      list = await keepOwnUnlessReschedulable(all, () =>
        all.pods.length > 0 ? reschedule.isPresumed() : reschedule.isPossible(),
      );
      if (podsLeft(list).length === 0) return 'empty';
      evictor.setTargets(list.pods.length > 0 ? list.pods : list.own);
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
