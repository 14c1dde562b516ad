import { Collection } from './collection.ts';
import type { KubeObject } from './objects.ts';
import { collectionPath } from './paths.ts';
import type { LabelSelector } from './selector.ts';
import type { KubeTransport } from './transport.ts';

export interface PodDisruptionBudget extends KubeObject {
  readonly spec?: {
    readonly selector?: LabelSelector | null;
    readonly unhealthyPodEvictionPolicy?: 'IfHealthyBudget' | 'AlwaysAllow';
  };
  /** Kept by the disruption controller. */
  readonly status?: {
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly expectedPods?: number;
  };
}

/** PodDisruptionBudgets of all namespaces, live. */
export interface BudgetPort {
  list(signal?: AbortSignal): Promise<readonly PodDisruptionBudget[]>;
}

const BUDGETS_PATH = collectionPath({ group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' });

export function budgetPort(transport: KubeTransport): BudgetPort {
  const budgets = new Collection<PodDisruptionBudget>(transport, BUDGETS_PATH);
  return { list: (signal) => budgets.list({}, signal) };
}
