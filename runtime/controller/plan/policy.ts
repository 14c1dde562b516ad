/** How many: a plain count, a share of the nodes, or no limit. */
export type Quantity =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'unlimited' };

/** What the people who run the cluster decided. Durations in milliseconds. */
export interface Policy {
  readonly maxConcurrent: Quantity;
  readonly maxFailed: Quantity;
  /** The node that the controller itself runs on; it is updated last. */
  readonly ownNode: string;
  /** How long a node must be Ready after its update. */
  readonly soakMs: number;
  /** How long it may be not Ready then before it counts as failed. */
  readonly soakTimeoutMs: number;
  readonly agentTimeoutMs: number;
  readonly returnTimeoutMs: number;
  /** How long the apiserver lets a drain take; 0 = for ever. */
  readonly drainTimeoutMs: number;
  /** How long a node that is not Ready takes a slot; 0 = never. */
  readonly notReadyHoldMs: number;
  /** An update must be done before the window closes, as far as can be told, or it does not start. */
  readonly mustFit: boolean;
  /** Nodes that run Bottlerocket get the label that asks for updates, each one once. */
  readonly labelNodes: boolean;
  /** Agents take their nodes out of load balancers before a drain. */
  readonly excludesFromLb: boolean;
  /** How many conditions a plan brings to its verdicts at most; 0 where the served CRD does not keep any. */
  readonly conditionWrites: number;
}

/**
 * Nodes that may be updating at once, whatever the policy (rule L7): the Lease holds that many slots with the longest names that Kubernetes
 * has, and leaves an eighth of its bytes to others.
 */
export const MOST_AT_ONCE = 600;

/** Nodes that may be updating at once, of `nodes` managed ones. A share is rounded down, but never to nothing. */
export function concurrency(quantity: Quantity, nodes: number): number {
  return Math.min(
    MOST_AT_ONCE,
    resolve(quantity, nodes, (share) => Math.max(1, Math.floor(share))),
  );
}

/** Nodes that may fail on a release, of `nodes` that it is offered to. A share is rounded up and is never below 2. */
export function failureBudget(quantity: Quantity, nodes: number): number {
  return resolve(quantity, nodes, (share) => Math.max(2, Math.ceil(share)));
}

function resolve(quantity: Quantity, nodes: number, round: (share: number) => number): number {
  if (quantity.kind === 'unlimited') return Infinity;
  // Divided last: 0.29 * 100 is less than 29.
  return quantity.kind === 'count' ? quantity.count : round((quantity.percent * nodes) / 100);
}
