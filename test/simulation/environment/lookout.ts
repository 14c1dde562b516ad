import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { SimNode, SimPod } from '../../../sim/kubernetes/types.ts';
import type { Hand } from './hand.ts';

/** Told of one object that is new, has changed, or is gone. */
export interface Watcher {
  node?(name: string, node: SimNode | undefined): void;
  pod?(pod: SimPod, gone: boolean): void;
}

const NOTHING: ReadonlyMap<string, SimPod> = new Map();

/** The cluster's Nodes and Pods as its own controllers and kubelets see them: one cache for all of these. */
export class Lookout {
  readonly nodes = new Map<string, SimNode>();
  readonly #pods = new Map<string, SimPod>();
  /** By node, then by UID. */
  readonly #byNode = new Map<string, Map<string, SimPod>>();
  readonly #watchers: Watcher[] = [];
  readonly #hand: Hand;

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  tell(watcher: Watcher): void {
    this.#watchers.push(watcher);
  }

  podsOn(node: string): readonly SimPod[] {
    return [...(this.#byNode.get(node) ?? NOTHING).values()];
  }

  pod(uid: string): SimPod | undefined {
    return this.#pods.get(uid);
  }

  get pods(): IterableIterator<SimPod> {
    return this.#pods.values();
  }

  /** Watches to the end of the run. */
  async run(): Promise<never> {
    return Promise.race([
      this.#follow('/api/v1/nodes', (node, gone) => this.#nodeChanged(node as SimNode, gone)),
      this.#follow('/api/v1/pods', (pod, gone) => this.#podChanged(pod as SimPod, gone)),
    ]);
  }

  async #follow(path: string, see: (object: KubeObject, gone: boolean) => void): Promise<never> {
    const events = await this.#hand.watch(path);
    for await (const { type, object } of events) see(object as KubeObject, type === 'DELETED');
    throw new Error(`the watch of ${path} has ended`);
  }

  #nodeChanged(node: SimNode, gone: boolean): void {
    const { name } = node.metadata;
    if (gone) this.nodes.delete(name);
    else this.nodes.set(name, node);
    for (const watcher of this.#watchers) watcher.node?.(name, gone ? undefined : node);
  }

  #podChanged(pod: SimPod, gone: boolean): void {
    const { uid } = pod.metadata;
    const node = pod.spec?.nodeName ?? '';
    const there = this.#byNode.get(node) ?? new Map<string, SimPod>();
    this.#byNode.set(node, there);
    if (gone) {
      this.#pods.delete(uid);
      there.delete(uid);
    } else {
      this.#pods.set(uid, pod);
      there.set(uid, pod);
    }
    for (const watcher of this.#watchers) watcher.pod?.(pod, gone);
  }
}
