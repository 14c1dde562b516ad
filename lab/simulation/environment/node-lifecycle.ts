import { isDeepStrictEqual } from 'node:util';
import { unready, UNSCHEDULABLE } from '../../sim/kubernetes/nodes.ts';
import { podPath } from '../../sim/kubernetes/pods.ts';
import { tolerates } from '../../sim/kubernetes/selectors.ts';
import { isReady, type Node } from '../../../runtime/kube/objects.ts';
import type { Taint } from '../../sim/kubernetes/types.ts';
import { between } from './chance.ts';
import type { Parts, Watcher } from './lookout.ts';
import { lostStatus } from '../../sim/kubernetes/kubelet/node-status.ts';

/** The control plane takes a node for lost after this long without a word, and looks every five seconds. */
export const GRACE_MS = 40_000;
const LOOKS_MS = 5000;
/** What an ordinary pod tolerates of a node that is lost or unwell, milliseconds. */
export const TOLERATED_MS = 300_000;
/** So long a pod of no Node is left alone. */
const ORPHAN_MS = 40_000;

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const OURS: ReadonlySet<string> = new Set([UNSCHEDULABLE.key, NOT_READY, UNREACHABLE]);

/** What the control plane makes of Nodes: lost ones, their taints, and the pods that were on them. */
export class NodeLifecycle implements Watcher {
  readonly #parts: Parts;
  /** What ends the wait for a word of the node. */
  readonly #silences = new Map<string, () => void>();
  /** What calls off the eviction of a node's pods. */
  readonly #doomed = new Map<string, () => void>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  heard(node: string): void {
    this.#silences.get(node)?.();
    this.#silences.delete(node);
  }

  silent(node: string): void {
    if (this.#silences.has(node)) return;
    const { timers, random } = this.#parts;
    const lostMs = GRACE_MS + between(random, 0, LOOKS_MS);
    this.#silences.set(
      node,
      timers.after(lostMs, () => this.#lose(node)),
    );
  }

  node(name: string, node: Node | undefined): void {
    const { timers } = this.#parts;
    if (node) return timers.do(() => this.#taint(name));
    this.#doomed.get(name)?.();
    this.#doomed.delete(name);
    timers.after(ORPHAN_MS, () => this.#collect(name));
  }

  async #lose(name: string): Promise<void> {
    const { lookout, hand, clock } = this.#parts;
    const node = lookout.nodes.get(name);
    if (!node) return;
    await hand.patch(`/api/v1/nodes/${name}/status`, { status: lostStatus(node, clock.now()) }, 'strategic');
    for (const pod of lookout.podsOn(name))
      if (isReady(pod)) await hand.patch(`${podPath(pod)}/status`, { status: { conditions: unready(pod) } });
  }

  async #taint(name: string): Promise<void> {
    const { lookout, hand } = this.#parts;
    const node = lookout.nodes.get(name);
    if (!node) return;
    const present = node.spec?.taints ?? [];
    const wanted = [...present.filter(({ key }) => !OURS.has(key)), ...taintsOf(node)];
    this.#doom(name, wanted);
    if (isDeepStrictEqual(byKey(present), byKey(wanted))) return;
    const { resourceVersion } = node.metadata;
    const taints = wanted.length > 0 ? wanted : null;
    // After a conflict, the write of the other is seen next, and leads here again.
    await hand.patch(`/api/v1/nodes/${name}`, { metadata: { resourceVersion }, spec: { taints } });
  }

  #doom(name: string, taints: readonly Taint[]): void {
    const evicting = taints.find(({ effect }) => effect === 'NoExecute');
    if (!evicting) {
      this.#doomed.get(name)?.();
      this.#doomed.delete(name);
    } else if (!this.#doomed.has(name)) {
      const callOff = this.#parts.timers.after(TOLERATED_MS, () => this.#evict(name, evicting));
      this.#doomed.set(name, callOff);
    }
  }

  /** Not by the Eviction API: no budget holds on a node that is lost. Where no kubelet is left, they stay as they are, Terminating. */
  async #evict(name: string, taint: Taint): Promise<void> {
    const { lookout, hand } = this.#parts;
    for (const pod of lookout.podsOn(name)) {
      if (tolerates(pod.spec?.tolerations ?? [], taint) || pod.metadata.deletionTimestamp !== undefined) continue;
      await hand.delete(podPath(pod), { preconditions: { uid: pod.metadata.uid } });
    }
  }

  async #collect(name: string): Promise<void> {
    const { lookout, hand } = this.#parts;
    if (lookout.nodes.has(name)) return;
    for (const pod of lookout.podsOn(name)) await hand.delete(podPath(pod), { gracePeriodSeconds: 0 });
  }
}

/** The taints that the control plane keeps on a node, by its state. */
function taintsOf({ spec, status }: Node): readonly Taint[] {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  const down = ready === 'Unknown' ? UNREACHABLE : NOT_READY;
  const cordoned = spec?.unschedulable === true ? [UNSCHEDULABLE] : [];
  if (ready === 'True' || ready === undefined) return cordoned;
  return [...cordoned, { key: down, effect: 'NoSchedule' }, { key: down, effect: 'NoExecute' }];
}

function byKey(taints: readonly Taint[]): readonly string[] {
  return taints.map(({ key, effect }) => `${key}:${effect}`).toSorted();
}
