import type { Node, Toleration } from '../../../runtime/kube/objects.ts';
import { labelSelector } from '../cluster/selector.ts';
import type { NodeSelectorTerm, PodSpec, Taint } from './types.ts';

/** Whether a pod's nodeSelector and required node affinity allow a node; taints are another matter. */
export function fitsNode(spec: PodSpec, node: Node): boolean {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const selected = labelSelector({ matchLabels: spec.nodeSelector })(node.metadata.labels ?? {});
  return selected && (terms === undefined || terms.some((term) => fitsTerm(term, node)));
}

/** Whether a node fits one term of a node affinity; an empty term fits none. */
export function fitsTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  return (
    matchExpressions.length + matchFields.length > 0 &&
    labelSelector({ matchExpressions })(node.metadata.labels ?? {}) &&
    labelSelector({ matchExpressions: matchFields })({ 'metadata.name': node.metadata.name })
  );
}

/** Whether every taint of a node that keeps new pods away is tolerated. */
export function toleratesNode(tolerations: readonly Toleration[] = [], node: Node): boolean {
  const taints = node.spec?.taints?.filter(({ effect }) => effect !== 'PreferNoSchedule') ?? [];
  return taints.every((taint) => tolerates(tolerations, taint));
}

/** Taints of a node that new pods avoid, and that are not tolerated: the real scheduler counts them. */
export const dislikesOf = (tolerations: readonly Toleration[] = [], { spec }: Node): number =>
  (spec?.taints ?? []).filter((taint) => taint.effect === 'PreferNoSchedule' && !tolerates(tolerations, taint)).length;

/** Whether every taint of a node that drives running pods away is tolerated. */
export function mayStayOn(tolerations: readonly Toleration[], node: Node): boolean {
  const taints = node.spec?.taints?.filter(({ effect }) => effect === 'NoExecute') ?? [];
  return taints.every((taint) => tolerates(tolerations, taint));
}

/** Whether one of the tolerations covers a taint. */
export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some(
    (toleration) => (!toleration.effect || toleration.effect === taint.effect) && coversKey(toleration, taint),
  );
}

function coversKey({ key, operator, value = '' }: Toleration, taint: Taint): boolean {
  if (operator === 'Exists') return !key || key === taint.key;
  return key === taint.key && value === (taint.value ?? '');
}
