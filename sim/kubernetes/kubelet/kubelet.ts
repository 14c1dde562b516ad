import { ConflictError } from '../../../runtime/kube/errors.ts';
import { collectionPath, objectPath } from '../../../runtime/kube/paths.ts';
import { Bell } from '../bell.ts';
import { Mirror } from '../mirror.ts';
import { isFinished } from '../pods.ts';
import type { SimPod } from '../types.ts';
import type { KubeletHooks } from './hooks.ts';
import { type ApiAccess, insist } from './insist.ts';
import { booted, type BootInfo, lease, lost, registration } from './node-status.ts';
import { PodRun, type PodRunOptions } from './pod-run.ts';

const NODES = collectionPath({ version: 'v1', plural: 'nodes' });
const PODS = collectionPath({ version: 'v1', plural: 'pods' });
const LEASES = collectionPath({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  namespace: 'kube-node-lease',
});

export interface KubeletOptions extends ApiAccess {
  readonly nodeName: string;
  /** Labels with which the node registers, beside its name and platform. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly hooks?: KubeletHooks;
  /** Milliseconds from a pod's binding until it runs. @default 200 */
  readonly startDelayMs?: number;
  /** Seconds that a pod's containers take to end, unless it is annotated. @default 1 */
  readonly terminationSeconds?: number;
}

interface Running {
  readonly run: PodRun;
  /** Aborted when the pod is removed while its containers run. */
  readonly gone: AbortController;
  readonly done: Promise<void>;
}

/** One node: registers it and runs the pods that are bound to it, from `boot` to `shutdown`. */
export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #podOptions: PodRunOptions;
  readonly #pods: Mirror<SimPod>;
  readonly #bell = new Bell();
  /** By UID. */
  readonly #running = new Map<string, Running>();
  readonly #failed = Promise.withResolvers<never>();
  #power: AbortController | undefined;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#podOptions = { hooks: {}, startDelayMs: 200, terminationSeconds: 1, ...options };
    this.#pods = new Mirror({ ...options, path: PODS, query: { fieldSelector: `spec.nodeName=${options.nodeName}` } });
  }

  /** Follows the node's pods until the signal aborts, then stops them all. Pods run only while the node is up. Rejects when the API refuses what a kubelet may do. */
  async run(signal: AbortSignal): Promise<void> {
    const ring = (): void => this.#bell.ring();
    signal.addEventListener('abort', ring, { once: true });
    await Promise.race([Promise.all([this.#pods.run(ring, signal), this.#rounds(signal)]), this.#failed.promise]);
  }

  /** The node comes up: its Node is Ready and tells of this boot, and its pods start (again). */
  async boot(info: BootInfo, signal?: AbortSignal): Promise<void> {
    const { nodeName, clock } = this.#options;
    const { labels = {} } = this.#options;
    await this.#ensure(NODES, registration(nodeName, labels), signal);
    await this.#ensure(LEASES, lease(nodeName, clock.now()), signal);
    await this.#patchStatus(booted(nodeName, info, clock.now()), signal);
    this.#power = new AbortController();
    this.#bell.ring();
  }

  /** The node goes down, all containers with it, and is no longer Ready. */
  async shutdown(signal?: AbortSignal): Promise<void> {
    await this.#powerOff();
    await this.#patchStatus(lost(this.#options.clock.now()), signal);
  }

  async #rounds(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#bell.wait();
      if (!signal.aborted && this.#power && this.#pods.synced) this.#sync(this.#power.signal);
    }
    await this.#powerOff();
  }

  #sync(power: AbortSignal): void {
    const pods = this.#pods.items().filter((pod) => !isFinished(pod));
    const present = new Set(pods.map(({ metadata }) => metadata.uid));
    for (const [uid, { gone }] of this.#running) if (!present.has(uid)) gone.abort();
    for (const pod of pods) {
      const running = this.#running.get(pod.metadata.uid) ?? this.#start(pod, power);
      running.run.update(pod);
    }
  }

  #start(pod: SimPod, power: AbortSignal): Running {
    const { uid } = pod.metadata;
    const run = new PodRun(pod, this.#podOptions);
    run.update(pod);
    const gone = new AbortController();
    const done = run
      .run(AbortSignal.any([power, gone.signal]))
      .catch(this.#failed.reject)
      .finally(() => this.#running.delete(uid));
    const running = { run, gone, done };
    this.#running.set(uid, running);
    return running;
  }

  async #powerOff(): Promise<void> {
    this.#power?.abort();
    this.#power = undefined;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  /** Creates an object that may be there already. */
  async #ensure(path: string, body: object, signal?: AbortSignal): Promise<void> {
    try {
      await insist(this.#options, { method: 'POST', path, body, ...(signal && { signal }) });
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }

  async #patchStatus(status: object, signal?: AbortSignal): Promise<void> {
    const path = objectPath(NODES, this.#options.nodeName, 'status');
    const contentType = 'application/merge-patch+json';
    await insist(this.#options, { method: 'PATCH', path, contentType, body: { status }, ...(signal && { signal }) });
  }
}
