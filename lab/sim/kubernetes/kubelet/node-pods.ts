import { collectionPath } from '../../../../runtime/kube/paths.ts';
import { Bell } from '../bell.ts';
import { Mirror } from '../mirror.ts';
import { isPodTerminal, type Pod } from '../../../../runtime/kube/objects.ts';
import type { KubeletHooks } from './hooks.ts';
import type { ApiAccess } from './insist.ts';
import { NodeVolumes } from './node-volumes.ts';
import { PodRun, type PodRunOptions } from './pod-run.ts';

const PODS = collectionPath({ version: 'v1', plural: 'pods' });

export interface NodePodsOptions extends ApiAccess {
  readonly nodeName: string;
  readonly hooks?: KubeletHooks;
  /** Milliseconds from a pod's binding until it runs. @default 200 */
  readonly startDelayMs?: number;
  /** Seconds that a pod's containers take to end, unless it is annotated. @default 1 */
  readonly terminationSeconds?: number;
  /** Which of the node's pods to run; others are somebody else's. @default all */
  readonly runs?: (pod: Pod) => boolean;
}

interface Running {
  readonly run: PodRun;
  /** Aborted when the pod is removed while its containers run. */
  readonly gone: AbortController;
  readonly done: Promise<void>;
}

/** Runs the pods that are bound to one node, while that is up. */
export class NodePods {
  readonly #runs: (pod: Pod) => boolean;
  readonly #podOptions: PodRunOptions;
  readonly #volumes: NodeVolumes;
  readonly #pods: Mirror<Pod>;
  readonly #bell = new Bell();
  /** By UID. */
  readonly #running = new Map<string, Running>();
  readonly #failed = Promise.withResolvers<never>();
  #power: AbortController | undefined;

  constructor(options: NodePodsOptions) {
    this.#runs = options.runs ?? (() => true);
    this.#podOptions = { hooks: {}, startDelayMs: 200, terminationSeconds: 1, ...options };
    this.#volumes = new NodeVolumes(options);
    this.#pods = new Mirror({ ...options, path: PODS, query: { fieldSelector: `spec.nodeName=${options.nodeName}` } });
  }

  /** Follows the node's pods until the signal aborts, then stops them all. Rejects when the API refuses what a kubelet may do. */
  async run(signal: AbortSignal): Promise<void> {
    const ring = (): void => this.#bell.ring();
    signal.addEventListener('abort', ring, { once: true });
    await Promise.race([Promise.all([this.#pods.run(ring, signal), this.#rounds(signal)]), this.#failed.promise]);
  }

  /** The node is up: its pods start (again). */
  powerOn(): void {
    this.#power = new AbortController();
    this.#volumes.forget(this.#power.signal).catch(this.#failed.reject);
    this.#bell.ring();
  }

  /** The node goes down, and all containers with it. Resolves when they have ended. */
  async powerOff(): Promise<void> {
    this.#power?.abort();
    this.#power = undefined;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  async #rounds(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#bell.wait();
      if (!signal.aborted && this.#power && this.#pods.synced) this.#sync(this.#power.signal);
    }
    await this.powerOff();
  }

  #sync(power: AbortSignal): void {
    const pods = this.#pods.items().filter((pod) => !isPodTerminal(pod) && this.#runs(pod));
    const present = new Set(pods.map(({ metadata }) => metadata.uid));
    for (const [uid, { gone }] of this.#running) if (!present.has(uid)) gone.abort();
    for (const pod of pods) {
      const running = this.#running.get(pod.metadata.uid) ?? this.#start(pod, power);
      running.run.update(pod);
    }
  }

  #start(pod: Pod, power: AbortSignal): Running {
    const { uid } = pod.metadata;
    const run = new PodRun(pod, this.#podOptions);
    run.update(pod);
    const gone = new AbortController();
    const done = this.#volumes
      .use(pod, power)
      .then(() => run.run(AbortSignal.any([power, gone.signal])))
      .catch(this.#failed.reject)
      .finally(() => {
        this.#running.delete(uid);
        this.#volumes.release(pod, power).catch(this.#failed.reject);
      });
    const running = { run, gone, done };
    this.#running.set(uid, running);
    return running;
  }
}
