/** How many: a plain count, a share of the nodes, or no limit. */
export type Quantity =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'unlimited' };

/**
 * Nodes that may be updating at once, whatever the policy (rule L7): no more than the Lease has room for where names are short.
 */
export const MOST_AT_ONCE = 600;

const PERCENT = '([1-9][0-9]?|100)%';

/** The counts that a quantity may be: in words, the largest one, and as a regular expression. */
export interface Counts {
  readonly expected: string;
  readonly most: number;
  readonly text: string;
}

export const ANY_COUNT: Counts = { expected: 'a positive integer', most: 999_999_999, text: '[1-9][0-9]{0,8}' };
export const COUNT_AT_ONCE: Counts = {
  expected: `a whole number from 1 to ${MOST_AT_ONCE}`,
  most: MOST_AT_ONCE,
  text: '[1-9][0-9]?|[1-5][0-9]{2}|600',
};

/** How a quantity is read, and what an OpenAPI schema can say of it. */
export interface QuantityKind {
  /** Completes the sentence "expected ...". */
  readonly expected: string;
  readonly most: number;
  /** Of a text. It is valid in RE2 too. */
  readonly pattern: string;
  /** Undefined for a text that does not fit. */
  readonly parse: (text: string) => Quantity | undefined;
}

/** `3`, `10%` or `unlimited`. */
export function limit({ expected, most, text }: Counts): QuantityKind {
  return {
    expected: `${expected}, a percentage or "unlimited"`,
    most,
    pattern: `^(${text}|${PERCENT}|[Uu][Nn][Ll][Ii][Mm][Ii][Tt][Ee][Dd])$`,
    parse: (value) => (value.toLowerCase() === 'unlimited' ? { kind: 'unlimited' } : countOrShare(value, most)),
  };
}

/** `3` or `10%`: nodes that a release has to be proven on. More cannot be on their way at once. */
export const PROOF_NODES: QuantityKind = {
  expected: `${COUNT_AT_ONCE.expected} or a percentage`,
  most: COUNT_AT_ONCE.most,
  pattern: `^(${COUNT_AT_ONCE.text}|${PERCENT})$`,
  parse: (value) => countOrShare(value, COUNT_AT_ONCE.most),
};

function countOrShare(text: string, most: number): Quantity | undefined {
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

/** Nodes that must prove a release, of `nodes` that it is offered to. A share is rounded up; it is never none, and never more than there are. */
export function provingNodes(quantity: Quantity, nodes: number): number {
  return Math.max(1, Math.min(nodes, resolve(quantity, nodes, Math.ceil)));
}

/** Nodes of `nodes` managed ones that may be not Ready before nothing new is disturbed. A share is rounded down; the limit is never below 3. */
export function unhealthyLimit(quantity: Quantity, nodes: number): number {
  return Math.max(3, resolve(quantity, nodes, Math.floor));
}

function resolve(quantity: Quantity, nodes: number, round: (share: number) => number): number {
  if (quantity.kind === 'unlimited') return Infinity;
  // Divided last: 0.29 * 100 is less than 29.
  return quantity.kind === 'count' ? quantity.count : round((quantity.percent * nodes) / 100);
}
