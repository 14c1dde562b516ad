import { GROUP } from '../shadow/names.ts';
import type { MarkedNode } from './marks.ts';
import type { NodePatch } from './patches.ts';

/** A taint of ours: key and effect tell whose it is, whoever has written it. It is no mark, and makes no node busy. */
export interface OwnTaint {
  readonly key: string;
  readonly effect: string;
}

/** On nodes that wait for a proven release, where their policy says `preferUpdated`: evicted pods go to nodes that are done, where these have room. */
export const WAITING_TAINT: OwnTaint = { key: `${GROUP}/waiting`, effect: 'PreferNoSchedule' };

/** The key of the taint that user data gives to machines as they join, so that they are updated before pods land on them. @see ARRIVING_TAINT */
export const ARRIVING_KEY = `${GROUP}/arriving`;

type Tainted = Pick<MarkedNode, 'spec'>;

const same = (a: OwnTaint, b: OwnTaint): boolean => a.key === b.key && a.effect === b.effect;

export const bears = ({ spec }: Tainted, taint: OwnTaint): boolean =>
  spec?.taints?.some((one) => same(one, taint)) === true;

/**
 * Puts the taint on the node, or takes it away; undefined where the node is so already. The API server keeps the list as a whole, so those of
 * others are sent along as they were read: the resourceVersion makes sure that they are still so.
 */
export function taintPatch(node: MarkedNode, taint: OwnTaint, wanted: boolean): NodePatch | undefined {
  if (bears(node, taint) === wanted) return undefined;
  const others = (node.spec?.taints ?? []).filter((one) => !same(one, taint));
  return withTaints(node, wanted ? [...others, taint] : others);
}

/** Takes away all taints of these keys; undefined where there are none. */
export function untaintPatch(node: MarkedNode, keys: readonly string[]): NodePatch | undefined {
  const taints = node.spec?.taints ?? [];
  const others = taints.filter(({ key }) => !keys.includes(key));
  return others.length === taints.length ? undefined : withTaints(node, others);
}

function withTaints({ metadata: { resourceVersion } }: MarkedNode, taints: readonly object[]): NodePatch {
  return { metadata: { resourceVersion }, spec: { taints: taints.length > 0 ? taints : null } };
}
