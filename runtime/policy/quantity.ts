/** How many: a plain count, a share of the nodes, or no limit. */
export type Quantity =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'unlimited' };

/**
 * Nodes that may be updating at once, whatever the policy (rule L7): the Lease holds that many slots with the longest names that Kubernetes
 * has, and leaves an eighth of its bytes to others.
 */
export const MOST_AT_ONCE = 600;

/** Reads `3`, `10%` or `unlimited`; undefined for any other text. @param most the largest count */
export function parseQuantity(text: string, most: number): Quantity | undefined {
  if (text.toLowerCase() === 'unlimited') return { kind: 'unlimited' };
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text) > most ? undefined : { kind: 'count', count: Number(text) };
  const percent = /^([1-9]\d?|100)%$/.exec(text)?.[1];
  return percent === undefined ? undefined : { kind: 'percent', percent: Number(percent) };
}

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
