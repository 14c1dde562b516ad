import { HOLD_ANNOTATION } from '../shadow/names.ts';
import type { MarkedNode } from './marks.ts';
import { LB_LABEL, LB_VALUE } from './names.ts';
import type { NodePatch } from './patches.ts';

/*
 * Undoes what the older implementation's apiserver leaves on a node. It writes no marks, so a caller must first make sure that the cordon or
 * the label is not an administrator's.
 */

/** Undoes its cordon; undefined where there is none, or the hold annotation keeps it. */
export function olderUncordonPatch(node: MarkedNode): NodePatch | undefined {
  const held = node.metadata.annotations?.[HOLD_ANNOTATION] !== undefined;
  if (held || node.spec?.unschedulable !== true) return undefined;
  return { metadata: { resourceVersion: node.metadata.resourceVersion }, spec: { unschedulable: null } };
}

/** Undoes its exclusion from load balancers, known by its value; undefined where there is none. */
export function olderInclusionPatch(node: MarkedNode): NodePatch | undefined {
  if (node.metadata.labels?.[LB_LABEL] !== LB_VALUE) return undefined;
  return { metadata: { resourceVersion: node.metadata.resourceVersion, labels: { [LB_LABEL]: null } } };
}
