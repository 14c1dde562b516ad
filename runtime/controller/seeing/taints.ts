import { bears, WAITING_TAINT } from '../../api/marks/taints.ts';
import type { Node } from '../../kube/objects.ts';
import { instantOf } from '../../lib/clock.ts';
import type { NodeView } from '../plan/facts/snapshot.ts';

/** What the taints of a Node say, by whoever has put them there. */
interface Said extends Pick<NodeView, 'leaving' | 'bearsWaiting'> {
  /** Since when it is cordoned, or about to be removed; undefined where they do not say. */
  readonly outStatedAt?: number;
}

/** With which Karpenter, in two of its versions, and the cluster autoscaler say that they are about to remove a machine. */
const LEAVING_TAINTS: ReadonlySet<string> = new Set([
  'karpenter.sh/disrupted',
  'karpenter.sh/disruption',
  'ToBeDeletedByClusterAutoscaler',
]);

/** Nearly every node has none. */
const NOTHING: Said = {};

export function saidByTaints(node: Node): Said {
  const taints = node.spec?.taints ?? [];
  const isLeaving = node.metadata.deletionTimestamp != null || taints.some(({ key }) => LEAVING_TAINTS.has(key));
  if (taints.length === 0 && !isLeaving) return NOTHING;
  const outs = taints.filter(({ key }) => key === 'node.kubernetes.io/unschedulable');
  const [outStatedAt] = outs.flatMap(({ timeAdded }) => instantOf(timeAdded) ?? []);
  return {
    ...(isLeaving && { leaving: true }),
    ...(outStatedAt !== undefined && { outStatedAt }),
    ...(bears(node, WAITING_TAINT) && { bearsWaiting: true }),
  };
}

/** Ours are no sign of anything. */
export const othersTaints = (spec: Node['spec']) => (spec?.taints ?? []).filter(({ key }) => key !== WAITING_TAINT.key);
