import { amountOf } from '../lib/resource-quantity.ts';
import type { Container, Pod } from '../kube/objects.ts';

/** By name of the resource: cores of `cpu`, bytes of `memory`, pieces of what a device plugin has. */
export type Amounts = Readonly<Record<string, number>>;

export const amountsOf = (quantities: Readonly<Record<string, unknown>> | null | undefined): Amounts =>
  Object.fromEntries(Object.entries(quantities ?? {}).map(([name, quantity]) => [name, amountOf(quantity)]));

/** Of each resource that either has. */
function combined(a: Amounts, b: Amounts, both: (a: number, b: number) => number): Amounts {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, both(a[name] ?? 0, b[name] ?? 0)]));
}

export const sumOf = (a: Amounts, b: Amounts): Amounts => combined(a, b, (one, other) => one + other);
export const without = (a: Amounts, b: Amounts): Amounts => combined(a, b, (one, other) => one - other);
export const mostOf = (a: Amounts, b: Amounts): Amounts => combined(a, b, Math.max);

const NONE: Amounts = {};
const requested = ({ resources }: Container): Amounts => amountsOf(resources?.requests);

/** What the scheduler reserves for a pod: its init containers run one after the other, beside the sidecars that began before. */
export function requestsOf({ spec }: Pick<Pod, 'spec'>): Amounts {
  const { containers, initContainers, overhead, resources } = spec ?? {};
  let sidecars = NONE;
  let atStart = NONE;
  for (const container of initContainers ?? []) {
    const running = sumOf(sidecars, requested(container));
    if (container.restartPolicy === 'Always') sidecars = running;
    atStart = mostOf(atStart, running);
  }
  const running = (containers ?? []).map(requested).reduce(sumOf, sidecars);
  // What the whole pod asks for stands for what its containers do.
  const own = { ...mostOf(running, atStart), ...amountsOf(resources?.requests) };
  return sumOf(own, amountsOf(overhead));
}
