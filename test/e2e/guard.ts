import { applyAll } from '../../lab/sim/world/manifests.ts';
import { WORKLOAD_NAMESPACE } from '../../lab/sim/world/workload.ts';
import type { RealCluster } from './cluster.ts';
import { kubectl } from './kubectl.ts';

/** Name of the pod that guards a node, and of its budget. */
export function guardOf(node: string): string {
  return `guard-${node}`;
}

/** Seconds that a guard takes to end: all of its grace. */
export const GUARD_GRACE_SECONDS = 5;

/**
 * Puts a pod on a node that its budget does not let go: a drain of the node lasts until `relaxGuard`.
 * @param image one that needs no image on paper, by default
 */
export async function guard(
  { transport }: RealCluster,
  nodeName: string,
  image = 'example.com/guard:1',
): Promise<void> {
  const name = guardOf(nodeName);
  const labels = { app: name };
  const metadata = { name, namespace: WORKLOAD_NAMESPACE, labels };
  const containers = [{ name: 'guard', image }];
  await applyAll(transport, [
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { nodeName, terminationGracePeriodSeconds: GUARD_GRACE_SECONDS, containers },
    },
  ]);
}

/** The budget lets the pod go from now on. */
export async function relaxGuard(node: string): Promise<void> {
  const relaxed = JSON.stringify({ spec: { minAvailable: 0 } });
  await kubectl('patch', 'pdb', guardOf(node), '-n', WORKLOAD_NAMESPACE, '--type=merge', '-p', relaxed);
}
