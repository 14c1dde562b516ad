import { nodeFields } from '../node-fields.ts';
import type { Node, Pod } from '../../kube/objects.ts';
import { Informer } from '../../kube/informer.ts';
import { NODES_PATH } from '../../kube/resources.ts';
import { watchOne } from '../../kube/watch-one.ts';
import { aborted } from '../../lib/abort.ts';
import { Wakeup } from '../../lib/wakeup.ts';
import { readMarks } from '../../api/marks/marks.ts';
import { returningPatch } from '../../api/marks/patches.ts';
import type { Ports } from '../ports.ts';
import {
  type Blocked,
  type Drain,
  type DrainRules,
  type DrainSettings,
  nextStep,
  type DrainStep,
  termsOf,
} from '../../drain/drain.ts';
import { type EvictionQueue, Evictor } from './evictor.ts';
import { filterPods, isOwnTurn, keepOwnUnlessReschedulable, type PodDeleteList } from '../../drain/filter.ts';
import { type DrainPod, podName, podsOn } from '../../drain/pod.ts';
import { Reschedule } from '../../drain/reschedule.ts';
import { StatusWriter } from './status.ts';

/** How a run of a drain ended. Those who waited for it then check the node themselves. */
export type RunEnd =
  /** What is to be done then: no pod that the drain must see gone is left, or the deadline has come. */
  | Exclude<DrainStep['kind'], 'wait'>
  /** The marks are gone or another drain's. */
  | 'superseded'
  /** Somebody uncordoned the node. */
  | 'uncordoned'
  /** This replica ends, or nobody has waited for a while. */
  | 'closed';

interface RunOptions {
  readonly settings: DrainSettings;
  readonly queue: EvictionQueue;
  /** Ends the run as `closed`. */
  readonly signal: AbortSignal;
}

/** How long a run continues when nobody waits for it. An agent that asks this replica again has done so by then. */
const LONGEST_ABSENCE_MS = 10_000;

/** Evicts the pods of a cordoned node for as long as the node has the marks of this drain. There is one run for each node and replica. */
export class DrainRun {
  readonly #ports: Ports;
  #drain: Omit<Drain, 'list' | 'seen'>;
  readonly #settings: DrainSettings;
  readonly #signal: AbortSignal;
  readonly #evictor: Evictor;
  readonly #status: StatusWriter;
  readonly #pods: Informer<Pod, DrainPod>;
  readonly #reschedule: Reschedule;
  /** As they were seen last: by the request that began the run, until the watch has listed them. */
  #list: PodDeleteList;
  /** Rings when the pods or the node have changed. */
  readonly #changed = new Wakeup();
  #ended: Promise<RunEnd> | undefined;
  #waiting = 0;
  /** Aborts when the run has ended. */
  readonly #end = new AbortController();
  /** Aborts when nobody has waited for a while. */
  readonly #abandoned = new AbortController();
  /** Aborts when somebody waits again, which ends that countdown. */
  #joined = new AbortController();

  constructor(ports: Ports, { list, seen, ...drain }: Drain, { settings, queue, signal }: RunOptions) {
    this.#ports = ports;
    this.#drain = drain;
    this.#list = list;
    this.#settings = settings;
    this.#signal = AbortSignal.any([this.#end.signal, this.#abandoned.signal, signal]);
    const onBlocked = (): void => this.#report();
    this.#evictor = new Evictor({
      ...ports,
      queue,
      drain: drain.id,
      cover: drain.cover,
      signal: this.#signal,
      onBlocked,
    });
    this.#status = new StatusWriter(ports, drain, this.#signal);
    const nodeName = drain.node.metadata.name;
    const logger = ports.logger.with({ node: nodeName });
    const known = { ...seen, items: seen.items.map((pod) => ({ key: podName(pod), value: pod })) };
    this.#pods = new Informer({ ...ports, ...podsOn(nodeName), logger, known });
    this.#reschedule = new Reschedule({ ...ports, nodeName, wasPossible: list.own.length > 0, signal: this.#signal });
  }

  /** Identity of the drain. */
  get id(): string {
    return this.#drain.id;
  }

  /** As it was seen last, cordoned by this drain. */
  get node(): Node {
    return this.#drain.node;
  }

  get isAwaited(): boolean {
    return this.#waiting > 0;
  }

  /** By UID: why a pod could not be evicted at the last try. */
  blocked(): Blocked {
    return this.#evictor.blocked();
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
    // This callback does not capture `this`: a run that has ended would keep its pods in memory until then.
    const absence = this.#ports.clock.sleep(LONGEST_ABSENCE_MS, this.#joined.signal);
    absence.then(
      () => abandoned.abort(),
      () => undefined,
    );
  }

  async #run(): Promise<RunEnd> {
    try {
      return await Promise.race([
        this.#untilMarksChange(),
        this.#evict(),
        this.#pods.run(this.#signal).then((): RunEnd => 'closed'),
      ]);
    } finally {
      this.#end.abort();
    }
  }

  async #untilMarksChange(): Promise<RunEnd> {
    const { name, resourceVersion: from } = this.#drain.node.metadata;
    const watched = { ...this.#ports, path: NODES_PATH, name, project: nodeFields, signal: this.#signal, from };
    for await (const node of watchOne<Node>(this.#ports.transport, watched)) {
      if (!node || readMarks(node)?.id !== this.id) return 'superseded';
      if (node.spec?.unschedulable !== true) return 'uncordoned';
      // Another replica evicts by now.
      if (this.#drain.wait && readMarks(node)?.waitsUntil === undefined) return 'begin';
      this.#drain = { ...this.#drain, node };
      this.#changed.ring();
    }
    return 'closed';
  }

  /** Until another step comes than to evict and to wait. */
  async #evict(): Promise<RunEnd> {
    const { clock } = this.#ports;
    this.#pods.onChange(() => this.#changed.ring());
    for (let until = -Infinity; !this.#signal.aborted; await this.#changed.wait(clock, until, this.#signal)) {
      if (this.#pods.isSynced) this.#list = await this.#look();
      const step = this.#next(this.#list);
      if (step.kind !== 'wait') return step.kind;
      this.#evictor.setTargets(step.evict);
      this.#report();
      await this.#noteReturning();
      ({ until } = step);
    }
    return 'closed';
  }

  /** Notes in the marks, for every replica, whose pods come back past the scheduler. */
  async #noteReturning(): Promise<void> {
    const { nodes, logger } = this.#ports;
    const { node, id } = this.#drain;
    const { name } = node.metadata;
    const patch = returningPatch(node, id, this.#evictor.returning());
    if (!patch) return;
    await nodes.patch(name, { ...patch }, this.#signal).then(
      () => logger.warn('pods are put on a cordoned node past the scheduler', { node: name, drain: id }),
      (error: unknown) => logger.debug('marks of a drain not written', { node: name, error }),
    );
  }

  async #look(): Promise<PodDeleteList> {
    const seen = filterPods([...this.#pods.items().values()], termsOf(this.#drain, this.#rules()));
    return keepOwnUnlessReschedulable(seen, () =>
      isOwnTurn(seen) ? this.#reschedule.isPossible() : this.#list.own.length > 0,
    );
  }

  #next(list: PodDeleteList): DrainStep {
    return nextStep({ ...this.#drain, list }, this.#rules());
  }

  #rules(): DrainRules {
    const { namespace, clock } = this.#ports;
    return { ...this.#settings, namespace, now: clock.now() };
  }

  #report(): void {
    this.#status.report({ ...this.#drain, list: this.#list }, this.blocked());
  }
}
