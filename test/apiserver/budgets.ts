import type { Client } from '../kube/client.ts';

const path = (namespace: string): string => `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;

/** What the controller of budgets has counted where the only pod is healthy and has to be. */
export const NO_SPARE = {
  disruptionsAllowed: 0,
  currentHealthy: 1,
  desiredHealthy: 1,
  expectedPods: 1,
  observedGeneration: 1,
};
/** And where there are two of which one may go. */
const SPARE = { ...NO_SPARE, disruptionsAllowed: 1, expectedPods: 2 };

/** A budget over the pods of an app. */
export async function addBudget(objects: Client, name: string, namespace = 'shop', app = 'web'): Promise<void> {
  const spec = { selector: { matchLabels: { app } }, minAvailable: 1 };
  await objects.create(path(namespace), { metadata: { name }, spec });
  await objects.patch(`${path(namespace)}/${name}/status`, { status: NO_SPARE });
}

/** Lets one pod of the budget go. */
export function addSpare(objects: Client, name: string): Promise<unknown> {
  return objects.patch(`${path('shop')}/${name}/status`, { status: SPARE });
}
