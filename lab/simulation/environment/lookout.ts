import type { KubeObject, Node, Pod } from '../../../runtime/kube/objects.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { getOrInsert } from '../../../runtime/lib/maps.ts';
import type { Hand } from './hand.ts';
import type { Timers } from './timers.ts';

/** What everybody of the environment has. */
export interface Parts {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly hand: Hand;
  readonly lookout: Lookout;
}

/** Told of one object that is new, has changed, or is gone. */
export interface Watcher {
  node?(name: string, node: Node | undefined): void;
  pod?(pod: Pod, gone: boolean): void;
}

const NOTHING: ReadonlyMap<string, Pod> = new Map();

/** The cluster's Nodes and Pods as its own controllers and kubelets see them: one cache for all of these. */
export class Lookout {
  readonly nodes = new Map<string, Node>();
  readonly #pods = new Map<string, Pod>();
  /** By node, then by UID. */
  readonly #byNode = new Map<string, Map<string, Pod>>();
  readonly #watchers: Watcher[] = [];
  readonly #hand: Hand;

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  tell(watcher: Watcher): void {
    this.#watchers.push(watcher);
  }

  podsOn(node: string): readonly Pod[] {
    return [...(this.#byNode.get(node) ?? NOTHING).values()];
  }

  get pods(): IterableIterator<Pod> {
    return this.#pods.values();
  }

  /** Watches to the end of the run. */
  async run(): Promise<never> {
    return Promise.race([
      this.#follow('/api/v1/nodes', (node, gone) => this.#nodeChanged(node as Node, gone)),
      this.#follow('/api/v1/pods', (pod, gone) => this.#podChanged(pod as Pod, gone)),
    ]);
  }

  async #follow(path: string, see: (object: KubeObject, gone: boolean) => void): Promise<never> {
    const events = await this.#hand.watch(path);
    for await (const { type, object } of events) see(object as KubeObject, type === 'DELETED');
    throw new Error(`the watch of ${path} has ended`);
  }

  #nodeChanged(node: Node, gone: boolean): void {
    const { name } = node.metadata;
    if (gone) this.nodes.delete(name);
    else this.nodes.set(name, node);
    for (const watcher of this.#watchers) watcher.node?.(name, gone ? undefined : node);
  }

  #podChanged(pod: Pod, gone: boolean): void {
    const { uid } = pod.metadata;
    const node = pod.spec?.nodeName ?? '';
    const there = getOrInsert(this.#byNode, node, () => new Map<string, Pod>());
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
