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
  const taints = wanted ? [...others, taint] : others;
  const { resourceVersion } = node.metadata;
  return { metadata: { resourceVersion }, spec: { taints: taints.length > 0 ? taints : null } };
}
