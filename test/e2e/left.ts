import {
  CLUSTER_AUTOSCALER_ANNOTATION,
  KARPENTER_ANNOTATION,
  LB_LABEL,
  RELEASED_ANNOTATION,
} from '../../runtime/api/marks/names.ts';
import { HOLD_ANNOTATION, MANAGED_LABEL } from '../../runtime/api/shadow/names.ts';
import type { Node } from '../../runtime/kube/objects.ts';
import type { History } from './history.ts';
import type { Outlook } from './scene.ts';

/** The operator's own labels, annotations and taints. */
const OWN = /(^|\.)bottlerocket\.aws\//;

/** What a drain writes besides. Nobody else does in scenarios. */
const OF_DRAINS: ReadonlySet<string> = new Set([LB_LABEL, CLUSTER_AUTOSCALER_ANNOTATION, KARPENTER_ANNOTATION]);

/** On a node for as long as it is managed, by design: that it is, and the last permit that was given back. */
const STAYING: readonly string[] = [MANAGED_LABEL, RELEASED_ANNOTATION];

/** What is wanted of a node before it is told to drain. */
const UNDISTURBED: ReadonlySet<string> = new Set(['Idle', 'StagedAndPerformedUpdate']);

/** A line for each Node that bears something of the operator's, or a cordon. A hold is people's. @param besides keys that may be there */
export function borneByNodes(nodes: Iterable<Node>, besides: readonly string[] = []): readonly string[] {
  return [...nodes].flatMap((node) => {
    const borne = borneBy(node).filter((key) => ![HOLD_ANNOTATION, ...besides].includes(key));
    return borne.length > 0 ? `${node.metadata.name} ${borne.join(' ')}` : [];
  });
}

function borneBy({ metadata: { labels, annotations }, spec }: Node): readonly string[] {
  const noted = [labels, annotations].flatMap((those) => Object.keys(those ?? {}));
  const all = [...noted, ...(spec?.taints ?? []).map(({ key }) => key)];
  const ours = all.filter((key) => OWN.test(key) || OF_DRAINS.has(key));
  return spec?.unschedulable ? [...ours, 'cordon'] : ours;
}

/** What updates have on nodes while the operator is there: a line for each of these nodes. */
export const leftByUpdates = ({ nodes }: History): readonly string[] => borneByNodes(nodes.values(), STAYING);

/** Resolves once they have nothing on any, nor may have soon: those that people do not stop have ended. */
export const untilBare = ({ until }: Outlook): Promise<unknown> =>
  until((history) => leftByUpdates(history).length === 0 && !isAnyToldToDrain(history));

const isAnyToldToDrain = ({ shadows }: History): boolean =>
  [...shadows.values()].some(({ spec }) => !UNDISTURBED.has(spec.state));
