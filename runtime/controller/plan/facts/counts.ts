import { checksText } from '../../../api/policy/checks.ts';
import type { UpdatePolicy } from '../../../api/policy/policy.ts';
import type { Quantity } from '../../../api/policy/quantity.ts';
import type { NodeView } from './snapshot.ts';

/** How many nodes these are. */
export function countNodes(infos: readonly { readonly node: Pick<NodeView, 'alike'> }[]): number {
  return infos.reduce((count, { node }) => count + (node.alike ?? 0), infos.length);
}

/** The words of a policy's proof. A percentage is kept as such, so that the text stays while the fleet grows. */
export function saysOf({ proof: { nodes, soakMs, per }, checks }: Pick<UpdatePolicy, 'proof' | 'checks'>): string {
  const ofNodes = `${quantityText(nodes)} for ${soakMs / 1000}s${per === undefined ? '' : ` per ${per}`}`;
  return checks.proof.length === 0 ? ofNodes : `${ofNodes}, ${checksText(checks.proof)}`;
}

function quantityText(quantity: Quantity): string {
  if (quantity.kind === 'unlimited') return quantity.kind;
  return quantity.kind === 'count' ? String(quantity.count) : `${quantity.percent}%`;
}
