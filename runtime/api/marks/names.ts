import { GROUP } from '../shadow/names.ts';

/** On the node: what the operator left there, as JSON (`Marks`). */
export const MARKS_ANNOTATION = `${GROUP}/marks`;
/** On the node: changed each time a permit is given back, so that a write decided on an older view of the node conflicts. */
export const RELEASED_ANNOTATION = `${GROUP}/released`;
/**
 * On the node: what a release could not undo, because a newer version of the operator, since rolled back, put it there. Names, separated by
 * commas. It is not a mark, so it does not make the node busy.
 */
export const UNRELEASED_ANNOTATION = `${GROUP}/unreleased`;
/** On the node, from its cordon to its release: the node is being updated. */
export const UPDATING_LABEL = `${GROUP}/updating`;

export const LB_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';
export const LB_VALUE = 'True';
export const CLUSTER_AUTOSCALER_ANNOTATION = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';
export const KARPENTER_ANNOTATION = 'karpenter.sh/do-not-disrupt';
