import { checksText } from '../../../api/policy/checks.ts';
import type { ProofRules, UpdatePolicy } from '../../../api/policy/policy.ts';
import { labelOf } from '../../../lib/selector.ts';
import type { Quantity } from '../../../api/policy/quantity.ts';
import type { NodeView, Settings } from '../facts/snapshot.ts';
import type { Patience } from './well.ts';

/** How a release is proven. */
export interface ProvingRules extends Patience, Pick<UpdatePolicy, 'checks'>, Pick<Settings, 'arrivingTaint'> {
  /** UID of the policy; empty for the variables. */
  readonly uid: string;
  readonly maxFailed: Quantity;
  readonly proof: ProofRules;
  readonly now: number;
}

/** The rules of a policy as numbers of nodes of one family. */
export interface ProvingCounts {
  /** Nodes that prove a release. */
  readonly needed: number;
  /** Nodes that may fail on it once it is proven. */
  readonly mayFail: number;
  /** By value of the label that it is proven per, nodes of that value that prove it. Of a policy that names none, all have the same. */
  readonly neededIn: ReadonlyMap<string, number>;
}

export type Proven = Pick<NodeView, 'uid' | 'labels'>;

/** By whose proof a node may start: that of all nodes, or of those with its value of a label. */
export const provenWith = ({ labels }: Pick<NodeView, 'labels'>, { per }: ProofRules): string =>
  per === undefined ? '' : (labelOf(labels, per) ?? '');

/** The words of a policy's proof. A percentage is kept as such, so that the text stays while the fleet grows. */
export function saysOf({ proof: { nodes, soakMs, per }, checks }: Pick<UpdatePolicy, 'proof' | 'checks'>): string {
  const ofNodes = `${quantityText(nodes)} for ${soakMs / 1000}s${per === undefined ? '' : ` per ${per}`}`;
  return checks.proof.length === 0 ? ofNodes : `${ofNodes}, ${checksText(checks.proof)}`;
}

function quantityText(quantity: Quantity): string {
  if (quantity.kind === 'unlimited') return quantity.kind;
  return quantity.kind === 'count' ? String(quantity.count) : `${quantity.percent}%`;
}
