import type { KubeObject, Node, Pod, PodDisruptionBudget } from '../../../runtime/kube/objects.ts';
import type { WatchEvent } from '../../../runtime/kube/transport.ts';
import type { ReleaseResource } from '../../../runtime/api/resources.ts';
import type { Shadow } from '../../../runtime/api/shadow/model.ts';
import { nodeNameOf } from '../../../runtime/api/shadow/names.ts';
import { covered, type Interval } from './efficiency.ts';

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
  /** Since when a pod has been ending, by its UID. */
  readonly #leaving = new Map<string, number>();
  readonly #left = new Map<string, Interval[]>();
  #blockedSince: number | undefined;
  readonly #blocked: Interval[] = [];

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

  pod(event: WatchEvent<Pod>, nowMs: number): void {
    const { metadata, spec } = event.object;
    const ofDaemonSet = metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet');
    if (spec?.nodeName === undefined || ofDaemonSet) return;
    if (event.type === 'DELETED') this.#podLeft(metadata.uid, spec.nodeName, nowMs);
    else if (metadata.deletionTimestamp && !this.#leaving.has(metadata.uid)) this.#leaving.set(metadata.uid, nowMs);
  }

  #podLeft(uid: string, node: string, endMs: number): void {
    const startMs = this.#leaving.get(uid);
    if (startMs === undefined) return;
    this.#leaving.delete(uid);
    this.#left.set(node, [...(this.#left.get(node) ?? []), { startMs, endMs }]);
  }

  /** The workload's budget; there is one. */
  budget(event: WatchEvent<PodDisruptionBudget>, nowMs: number): void {
    const { currentHealthy = 0, desiredHealthy = 0, disruptionsAllowed, expectedPods = 0 } = event.object.status ?? {};
    if (expectedPods === 0) return;
    const spare = currentHealthy - desiredHealthy;
    // A workload that is only just starting was not disrupted.
    if (spare >= 0 || this.leastSpare < Infinity) this.leastSpare = Math.min(this.leastSpare, spare);
    this.#allows(disruptionsAllowed !== 0, nowMs);
  }

  #allows(disruptions: boolean, nowMs: number): void {
    if (!disruptions) this.#blockedSince ??= nowMs;
    else if (this.#blockedSince !== undefined) {
      this.#blocked.push({ startMs: this.#blockedSince, endMs: nowMs });
      this.#blockedSince = undefined;
    }
  }

  /** Time within a node's update that no operator could have saved: the host's own work, pods that end, a budget that says no. */
  unavoidableMs(node: string, host: readonly Interval[]): number {
    const update = this.updates.get(node);
    if (update?.endMs === undefined) return 0;
    const left = this.#left.get(node) ?? [];
    const drain =
      left.length === 0
        ? []
        : [{ startMs: Math.min(...left.map((one) => one.startMs)), endMs: Math.max(...left.map((one) => one.endMs)) }];
    const waits = this.#blocked.flatMap((one) => drain.map((window) => overlap(one, window)));
    const within = { startMs: update.startMs, endMs: update.endMs };
    return covered([...host, ...left, ...waits].map((one) => overlap(one, within)));
  }
}

function store<T extends { metadata: { name: string } }>(objects: Map<string, T>, event: WatchEvent<T>): void {
  const key = event.object.metadata.name;
  if (event.type === 'DELETED') objects.delete(key);
  else objects.set(key, event.object);
}

/** The common part; of no length where there is none. */
function overlap(a: Interval, b: Interval): Interval {
  const startMs = Math.max(a.startMs, b.startMs);
  return { startMs, endMs: Math.max(startMs, Math.min(a.endMs, b.endMs)) };
}
