import type { KubeObject, Node, PodDisruptionBudget } from '../../../runtime/kube/objects.ts';
import type { WatchEvent } from '../../../runtime/kube/transport.ts';
import type { ReleaseResource } from '../../../runtime/api/resources.ts';
import type { Shadow } from '../../../runtime/api/shadow/model.ts';
import { nodeNameOf } from '../../../runtime/api/shadow/names.ts';

/** An update of one node, from its start to its end (milliseconds on the wall clock). */
export interface Update {
  readonly startMs: number;
  endMs?: number | undefined;
}

/**
 * What happened in a rollout, taken from the watch streams of the cluster alone: never from what the operator says of itself. Feed it
 * each event in order with the time at which it came.
 */
export class Recorder {
  readonly nodes = new Map<string, Node>();
  readonly shadows = new Map<string, Shadow>();
  readonly releases = new Map<string, ReleaseResource>();
  /** Updates in order of their starts, the last one of each node. */
  readonly updates = new Map<string, Update>();
  /** When a host's offer was first reported. */
  offeredMs: number | undefined;
  /** Most nodes that were unschedulable at one moment. */
  mostCordoned = 0;
  /** Fewest healthy pods of the workload above what its budget asks for; below zero it was violated. */
  leastSpare = Infinity;

  node(event: WatchEvent<Node>): void {
    store(this.nodes, event);
    const nodes = [...this.nodes.values()];
    this.mostCordoned = Math.max(this.mostCordoned, nodes.filter((node) => node.spec?.unschedulable).length);
  }

  release(event: WatchEvent<ReleaseResource>): void {
    store(this.releases, event);
  }

  shadow(event: WatchEvent<Shadow & KubeObject>, nowMs: number): void {
    store(this.shadows, event);
    const { metadata, spec, status } = event.object;
    const node = nodeNameOf(metadata.name);
    if (node === undefined || !status) return;
    if (status.target_version !== status.current_version) this.offeredMs ??= nowMs;
    if (spec.state === 'Idle' && status.current_state === 'Idle') this.#ended(node, nowMs);
    else this.#began(node, nowMs);
  }

  #began(node: string, startMs: number): void {
    // Nobody offers anything to a host that is told what to run.
    this.offeredMs ??= startMs;
    const update = this.updates.get(node);
    if (update && update.endMs === undefined) return;
    this.updates.delete(node);
    this.updates.set(node, { startMs });
  }

  #ended(node: string, endMs: number): void {
    const update = this.updates.get(node);
    if (update) update.endMs ??= endMs;
  }

  /** The workload's budget; there is one. */
  budget({ object }: WatchEvent<PodDisruptionBudget>): void {
    const { currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = object.status ?? {};
    const spare = currentHealthy - desiredHealthy;
    // A workload that is only just starting was not disrupted.
    if (expectedPods > 0 && (spare >= 0 || this.leastSpare < Infinity))
      this.leastSpare = Math.min(this.leastSpare, spare);
  }
}

function store<T extends { metadata: { name: string } }>(objects: Map<string, T>, event: WatchEvent<T>): void {
  const key = event.object.metadata.name;
  if (event.type === 'DELETED') objects.delete(key);
  else objects.set(key, event.object);
}
