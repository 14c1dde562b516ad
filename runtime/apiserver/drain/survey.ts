import type { Pod } from '../../kube/objects.ts';
import { onNode } from '../../kube/pods.ts';
import type { Ports } from '../ports.ts';
import { drainSet, toEvict } from './drain-set.ts';
import { otherNodeTakesPods } from './elsewhere.ts';

/** The pods of a node, by a live list. */
export interface Survey {
  /** Those that the drain has to see gone; none where only the operator's own are left, which no other node could take. */
  readonly left: readonly Pod[];
  /** Those that came after the cordon, which they tolerate, and will not be waited for. */
  readonly tolerating: readonly Pod[];
}

export interface SurveyOf {
  readonly nodeName: string;
  /** When the drain began (RFC 3339). */
  readonly since: string;
}

export async function survey(
  { pods, transport, namespace }: Pick<Ports, 'pods' | 'transport' | 'namespace'>,
  { nodeName, since }: SurveyOf,
): Promise<Survey> {
  const set = drainSet(await pods.list({ fieldSelector: onNode(nodeName) }), { since, namespace });
  const next = await toEvict(set, () => otherNodeTakesPods(transport, nodeName));
  return { left: next.length === 0 ? [] : [...set.pods, ...set.own], tolerating: set.tolerating };
}
