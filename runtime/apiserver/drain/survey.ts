import type { Pod } from '../../kube/objects.ts';
import { onNode } from '../../kube/pods.ts';
import type { Ports } from '../ports.ts';
import { drainSet, leaving } from './drain-set.ts';
import { otherNodeTakesPods } from './elsewhere.ts';

/** The pods of a node, by a live list. */
export interface Survey {
  /** Those that the drain has to see gone, and so none of the operator's own where no other node could take them. */
  readonly left: readonly Pod[];
  /** Those that came after the cordon, which they tolerate, and will not be waited for. */
  readonly tolerating: readonly Pod[];
  /** All that stay where they are. */
  readonly staying: readonly Pod[];
}

export interface SurveyOf {
  readonly nodeName: string;
  /** Pods that were created after this (RFC 3339) came after the cordon. */
  readonly lateAfter: string;
}

type SurveyPorts = Pick<Ports, 'pods' | 'transport' | 'namespace'>;

export async function survey(ports: SurveyPorts, { nodeName, lateAfter }: SurveyOf): Promise<Survey> {
  return surveyOf(ports, await podsOf(ports, nodeName), { nodeName, lateAfter });
}

/** All pods on a node, by a live list. */
export function podsOf({ pods }: Pick<Ports, 'pods'>, nodeName: string): Promise<readonly Pod[]> {
  return pods.list({ fieldSelector: onNode(nodeName) });
}

/** What a drain makes of pods that were listed. */
export async function surveyOf(
  { transport, namespace }: Omit<SurveyPorts, 'pods'>,
  pods: readonly Pod[],
  { nodeName, lateAfter }: SurveyOf,
): Promise<Survey> {
  const set = drainSet(pods, { lateAfter, namespace });
  const { own, staying } = await leaving(set, () => otherNodeTakesPods(transport, nodeName));
  return { left: [...set.pods, ...own], tolerating: set.tolerating, staying };
}
