import type { ProofRules } from '../../../api/policy/policy.ts';
import type { Quantity } from '../../../api/policy/quantity.ts';
import type { Decision, Failure, UnderPolicy } from '../../../api/release/model.ts';
import { NEVER } from './requeue.ts';
import type { NodeView } from './snapshot.ts';

/** How many nodes these are. */
export function countNodes(infos: readonly { readonly node: Pick<NodeView, 'alike'> }[]): number {
  let count = infos.length;
  for (const { node } of infos) count += node.alike ?? 0;
  return count;
}

/** A number of nodes, each counted until it is lost. */
export class NodeCount {
  count = 0;
  /** When time alone takes one of them away. */
  readonly losses: number[] = [];
  readonly #now: number;

  constructor(now: number) {
    this.#now = now;
  }

  add(goneAt: number): void {
    if (goneAt <= this.#now) return;
    this.count += 1;
    if (goneAt !== NEVER) this.losses.push(goneAt);
  }
}

/** What the ledger of a release says under one policy. */
export interface Book {
  /** UIDs of the nodes that have an entry, under whichever policy: these may always try again. */
  readonly failed: ReadonlySet<string>;
  /** Entries that count for the policy. */
  readonly counted: number;
  readonly entries: readonly Failure[];
  readonly decision: Decision;
  /** It was proven under this very policy, by the proof that the policy asks for now. */
  readonly isProven: boolean;
  /** Nodes that may fail, by which it was halted; undefined where it was not. */
  readonly haltedBy: number | undefined;
  readonly before: UnderPolicy;
  readonly over: OverPolicies;
}

/** Who is put at risk by an unproven release over all policies together (rule F2). */
export class OverPolicies {
  /** On their way to it. */
  readonly moving: NodeCount;
  /** Those of them that have been disturbed for it. */
  readonly disturbed: NodeCount;
  readonly #failed: number;
  readonly #limits: (() => number | undefined)[] = [];
  /** The greatest limit of all. */
  #limit: number | undefined;

  constructor(failed: number, now: number) {
    this.#failed = failed;
    this.moving = new NodeCount(now);
    this.disturbed = new NodeCount(now);
  }

  /** @param limit of one policy; undefined where it has proven the release, or has no nodes for it */
  join(limit: () => number | undefined): void {
    this.#limits.push(limit);
    this.#limit = undefined;
  }

  /** How many of the nodes counted must drop out before another one may be added. To be asked once every node has been counted. */
  beyond(count: NodeCount): number {
    this.#limit ??= Math.max(...this.#limits.flatMap((limit) => limit() ?? []));
    return count.count + this.#failed - this.#limit + 1;
  }
}

/** What a policy says of proof: a share stays a share while the fleet grows. */
export const saysOf = ({ nodes, soakMs }: ProofRules): string => `${quantityText(nodes)} for ${soakMs / 1000}s`;

function quantityText(quantity: Quantity): string {
  if (quantity.kind === 'unlimited') return quantity.kind;
  return quantity.kind === 'count' ? String(quantity.count) : `${quantity.percent}%`;
}
