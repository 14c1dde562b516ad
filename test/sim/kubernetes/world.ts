import type { KubeList } from '../../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import { VirtualClock } from '../../../sim/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../../sim/cluster/cluster.ts';
import { type Kubernetes, startKubernetes } from '../../../sim/kubernetes/main.ts';
import type { SimPod } from '../../../sim/kubernetes/types.ts';

export const PODS = '/api/v1/namespaces/default/pods';

/** A cluster of three nodes on a virtual clock. */
export class World {
  readonly clock = new VirtualClock();
  readonly cluster: EmbeddedCluster;
  readonly kubernetes: Kubernetes;
  /** `start <node>` and `stop <node>`, as the kubelets' hooks tell it. */
  readonly events: string[] = [];
  /** By pod: ends its containers. */
  readonly exits = new Map<string, (code?: number) => void>();
  /** By pod: says whether its containers are ready. */
  readonly readiness = new Map<string, (is: boolean) => void>();
  readonly #kube: KubeTransport;
  readonly #end = new AbortController();

  private constructor() {
    let draws = 0;
    const random = (): number => (draws++ * 0.618) % 1;
    this.cluster = new EmbeddedCluster({ clock: this.clock, random });
    this.#kube = this.cluster.transport(ADMIN);
    const hooks = {
      onPodStart: (pod: SimPod, exited: (code?: number) => void, ready: (is: boolean) => void): void => {
        this.events.push(`start ${pod.spec?.nodeName}`);
        this.exits.set(pod.metadata.name, exited);
        this.readiness.set(pod.metadata.name, ready);
      },
      onPodStop: (pod: SimPod): void => void this.events.push(`stop ${pod.spec?.nodeName}`),
    };
    const { clock } = this;
    this.kubernetes = startKubernetes({ transport: this.#kube, clock, random, signal: this.#end.signal, hooks });
  }

  static async start(): Promise<World> {
    const world = new World();
    for (const name of ['n1', 'n2', 'n3']) await world.boot(name, 'boot-1');
    return world;
  }

  async stop(): Promise<void> {
    this.#end.abort(new Error('the test is over'));
    await this.clock.advanceUntil(this.kubernetes.stopped, 60_000);
  }

  async boot(name: string, bootID: string): Promise<void> {
    const booted = this.kubernetes.kubelet(name, { tier: 'a' }).boot({ osImage: 'Bottlerocket OS 1.38.0', bootID });
    await this.clock.advanceUntil(booted, 1000);
  }

  async shutdown(name: string): Promise<void> {
    await this.clock.advanceUntil(this.kubernetes.kubelet(name).shutdown(), 1000);
  }

  post(path: string, body: object): Promise<unknown> {
    return this.#kube.request({ method: 'POST', path, body });
  }

  async get<T>(path: string): Promise<T> {
    return (await this.#kube.request({ method: 'GET', path })) as T;
  }

  remove(path: string, options?: object): Promise<unknown> {
    return this.#kube.request({ method: 'DELETE', path, body: options });
  }

  patch(path: string, body: object): Promise<unknown> {
    return this.#kube.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
  }

  async pods(): Promise<readonly SimPod[]> {
    return (await this.get<KubeList<SimPod>>(PODS)).items;
  }

  /** Nodes of the pods that run and are not on their way out, in order. */
  async runningOn(): Promise<readonly string[]> {
    const up = (await this.pods()).filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        status?.containerStatuses?.every(({ state }) => state?.running) === true,
    );
    return up.map(({ spec }) => spec?.nodeName ?? '').toSorted();
  }
}
