import {
  isReady,
  type Node,
  type Pod,
  type PodDisruptionBudget,
  type Toleration,
} from '../../../runtime/kube/objects.ts';
import { budgets, DISRUPTED_MS } from '../../sim/kubernetes/budgets.ts';
import { controllerUid, createPod, isActive } from '../../sim/kubernetes/pods.ts';
import { toleratesNode } from '../../sim/kubernetes/selectors.ts';
import type { Workload } from '../../sim/kubernetes/types.ts';
import { between, oneOf } from './chance.ts';
import type { Parts, Watcher } from './lookout.ts';
import { claimOf, provision, volumesOf } from './volumes.ts';

export interface AppSpec {
  readonly name: string;
  readonly namespace: string;
  readonly replicas: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly graceSeconds?: number;
  /** What each of its pods asks for; a pod that asks for nothing fits everywhere. */
  readonly cpu?: string;
  readonly serviceAccountName?: string;
  readonly tolerations?: readonly Toleration[];
  /** Of its PodDisruptionBudget; none where unset. */
  readonly budget?: Pick<NonNullable<PodDisruptionBudget['spec']>, 'minAvailable' | 'maxUnavailable'>;
  /** Each of its pods has a volume of its own, as those of a StatefulSet. */
  readonly hasVolumes?: boolean;
  /** The only node on which it runs. */
  readonly node?: string;
}

/** An application of so many pods: what is missing is made anew elsewhere, and its budget says how many may go. */
export class App implements Watcher {
  readonly spec: AppSpec;
  readonly #parts: Parts;
  #set: Workload | undefined;
  #isDue = false;
  /** How many of its pods are said to be. */
  #ready = 0;
  /** There was no node for a pod. */
  #isWaiting = false;
  /** For how many reasons it gets no new pods. */
  #withheld = 0;

  constructor(spec: AppSpec, parts: Parts) {
    this.spec = spec;
    this.#parts = parts;
  }

  async begin(): Promise<void> {
    const { name, namespace, replicas, budget } = this.spec;
    const labels = this.labels;
    const template = { metadata: { labels }, spec: { containers: [{ name, image: name }] } };
    const spec = { replicas, selector: { matchLabels: labels }, template };
    const body = { metadata: { name, labels }, spec };
    this.#set = await this.#parts.hand.create<Workload>(`/apis/apps/v1/namespaces/${namespace}/replicasets`, body);
    for (const claim of this.#claims) await provision(this.#parts.hand, namespace, claim);
    if (budget)
      await this.#parts.hand.create(this.budgetsPath, {
        metadata: { name },
        spec: { ...budget, selector: { matchLabels: labels } },
      });
    this.look();
  }

  get #claims(): readonly string[] {
    const { name, replicas, hasVolumes = false } = this.spec;
    return hasVolumes ? Array.from({ length: replicas }, (_, index) => `data-${name}-${index}`) : [];
  }

  get labels(): Readonly<Record<string, string>> {
    return { app: this.spec.name, ...this.spec.labels };
  }

  get budgetsPath(): string {
    return `/apis/policy/v1/namespaces/${this.spec.namespace}/poddisruptionbudgets`;
  }

  pod(pod: Pod): void {
    if (pod.metadata.labels?.['app'] === this.spec.name) this.look();
  }

  node(): void {
    if (this.#isWaiting) this.look();
  }

  /** It gets no new pods until what is returned is called, as where a quota is used up. */
  withhold(): () => void {
    this.#withheld += 1;
    return () => {
      this.#withheld -= 1;
      this.look();
    };
  }

  /** A moment later, and once for all that happens until then. */
  look(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const { timers, random } = this.#parts;
    timers.after(between(random, 10, 400), async () => {
      this.#isDue = false;
      await this.#sync();
    });
  }

  async #sync(): Promise<void> {
    const set = this.#set;
    if (!set) return;
    const pods = [...this.#parts.lookout.pods].filter((pod) => controllerUid(pod) === set.metadata.uid);
    await this.#count(set, pods);
    await this.#sayReady(set, pods.filter(isReady).length);
    const active = pods.filter(isActive);
    this.#isWaiting = false;
    if (this.#withheld > 0) return;
    const taken = new Set(pods.map(claimOf));
    const claims = this.#claims.filter((claim) => !taken.has(claim));
    for (let missing = this.spec.replicas - active.length; missing > 0; missing--) {
      const node = this.#place(active);
      this.#isWaiting = node === undefined;
      if (node === undefined) return;
      const claim = claims.shift();
      // A volume is free once the pod that had it is gone, of which this hears.
      if (this.spec.hasVolumes && claim === undefined) return;
      const made = await this.#create(set, { node, claim });
      if (made) active.push(made);
    }
  }

  /** As the disruption controller does: it is what evictions are judged by. */
  async #count(set: Workload, pods: readonly Pod[]): Promise<void> {
    const { hand, clock, timers } = this.#parts;
    const list = await hand.get<{ items: readonly PodDisruptionBudget[] }>(this.budgetsPath);
    const mine = (list?.items ?? []).filter(({ spec }) => spec?.selector?.matchLabels?.['app'] === this.spec.name);
    // Who was granted an eviction and is there all the same counts again after a while, and nothing happens then that would say so.
    if (mine.some(({ status }) => Object.keys(status?.disruptedPods ?? {}).length > 0))
      timers.after(DISRUPTED_MS, () => this.look());
    for (const { path, body } of budgets({ budgets: mine, pods, replicaSets: [set] }, clock)) {
      if (!(await hand.replace(path, body as object))) this.look();
    }
  }

  async #sayReady({ metadata: { namespace, name } }: Workload, readyReplicas: number): Promise<void> {
    if (this.#ready === readyReplicas) return;
    this.#ready = readyReplicas;
    const status = { readyReplicas };
    await this.#parts.hand.patch(`/apis/apps/v1/namespaces/${namespace}/replicasets/${name}/status`, { status });
  }

  /** The node with the fewest of them that takes pods. */
  #place(active: readonly Pod[]): string | undefined {
    const { lookout, random } = this.#parts;
    const { node: only, tolerations = [] } = this.spec;
    const open = [...lookout.nodes.values()].filter((node) =>
      only === undefined
        ? takesPods(node, tolerations)
        : node.metadata.name === only && toleratesNode(tolerations, node),
    );
    const load = Map.groupBy(active, ({ spec }) => spec?.nodeName ?? '');
    const loads = open.map(({ metadata: { name } }) => ({ name, pods: load.get(name)?.length ?? 0 }));
    const least = Math.min(...loads.map(({ pods }) => pods));
    const best = loads.filter(({ pods }) => pods === least);
    return best.length === 0 ? undefined : oneOf(random, best).name;
  }

  #create(
    set: Workload,
    { node: nodeName, claim }: { readonly node: string; readonly claim: string | undefined },
  ): Promise<Pod | undefined> {
    const { hand, random } = this.#parts;
    const { name, annotations = {}, graceSeconds = 30, cpu, serviceAccountName, tolerations } = this.spec;
    const spec = {
      nodeName,
      containers: [{ name, image: name, ...(cpu !== undefined && { resources: { requests: { cpu } } }) }],
      terminationGracePeriodSeconds: graceSeconds,
      ...(serviceAccountName !== undefined && { serviceAccountName }),
      ...(tolerations && { tolerations }),
      ...(claim !== undefined && { volumes: volumesOf(claim) }),
    };
    const template = { metadata: { annotations }, spec: {} };
    const { path, body } = createPod({
      ownerKind: 'ReplicaSet',
      owner: set,
      template,
      labels: this.labels,
      spec,
      random,
    });
    return hand.create<Pod>(path, body as object);
  }
}

function takesPods(node: Node, tolerations: readonly Toleration[]): boolean {
  return isReady(node) && node.spec?.unschedulable !== true && toleratesNode(tolerations, node);
}
