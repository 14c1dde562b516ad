/** How many: a plain count, a share of the nodes, or no limit. */
export type Amount =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'unlimited' };

/**
 * Nodes that may be updating at once, whatever the policy (rule L7): the Lease holds that many slots with the longest names that Kubernetes
 * has, and leaves an eighth of its bytes to others.
 */
export const MOST_AT_ONCE = 600;

/** Nodes that may be updating at once, of `nodes` managed ones. A share is rounded down, but never to nothing. */
export function concurrency(amount: Amount, nodes: number): number {
  return Math.min(
    MOST_AT_ONCE,
    resolve(amount, nodes, (share) => Math.max(1, Math.floor(share))),
  );
}

/** Nodes that may fail on a release, of `nodes` that it is offered to. A share is rounded up and is never below 2. */
export function failureBudget(amount: Amount, nodes: number): number {
  return resolve(amount, nodes, (share) => Math.max(2, Math.ceil(share)));
}

function resolve(amount: Amount, nodes: number, round: (share: number) => number): number {
  if (amount.kind === 'unlimited') return Infinity;
  // Divided last: 0.29 * 100 is less than 29.
  return amount.kind === 'count' ? amount.count : round((amount.percent * nodes) / 100);
}
