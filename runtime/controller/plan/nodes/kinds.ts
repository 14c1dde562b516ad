import { labelOf } from '../../../lib/selector.ts';
import type { Ruling } from '../facts/rulings.ts';
import type { NodeInfo, Settings } from '../facts/snapshot.ts';

interface Settled extends Pick<NodeInfo, 'node' | 'shadow'> {
  readonly zone: string;
  readonly ruling: Ruling;
  readonly offered: string | undefined;
}

interface OfKind {
  readonly kind: string | undefined;
}

/**
 * Tells settled nodes apart by all that counts and gates look at, but for who each is and its times. Undefined where several policies claim the node, or
 * it is ordered what it is not offered.
 */
export function kindOf(info: Settled, { ownNode }: Pick<Settings, 'ownNode'>): string | undefined {
  const { ruling, shadow, offered } = info;
  const { order } = shadow ?? {};
  if (!ruling.policy || (order && (order.stop ?? order.version !== offered))) return undefined;
  return textOf(info, ownNode);
}

function textOf({ node, shadow, zone, ruling, offered }: Settled, ownNode: string): string {
  const { status, spec, order, updatedFrom } = shadow ?? {};
  const { per } = ruling.rules.proof;
  const own = [node.family, node.signs, node.name === ownNode, per && labelOf(node.labels, per)];
  const versions = [status?.current_version, status?.target_version, offered, updatedFrom];
  const wishes = [spec?.version_wish, status?.version_wish, order !== undefined];
  return JSON.stringify([ruling.policy?.name, zone, ...own, ...versions, ...wishes]);
}

/** Those of one kind together, every other alone, in the order of the first of each. */
export const byKind = <T extends OfKind>(infos: readonly T[]): readonly (readonly T[])[] => [
  ...Map.groupBy(infos, (info) => info.kind ?? info).values(),
];
