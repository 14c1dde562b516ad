import type { Manifest } from './manifests.ts';

export const WORKLOAD_NAMESPACE = 'shop';
export const WORKLOAD = 'web';
/** Seconds that a pod of the workload takes to end in real life; a run divides it by its speed. */
const TERMINATION_SECONDS = 5;

/** A service that people would miss: two pods per node, spread, and a budget that lets a node's worth of them be away at a time. */
export function workload({ nodes, speed }: { readonly nodes: number; readonly speed: number }): Manifest[] {
  const labels = { app: WORKLOAD };
  const metadata = { name: WORKLOAD, namespace: WORKLOAD_NAMESPACE, labels };
  const replicas = 2 * nodes;
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: WORKLOAD_NAMESPACE } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations: { 'sim.brupop/termination-seconds': String(TERMINATION_SECONDS / speed) } },
          spec: {
            terminationGracePeriodSeconds: 30,
            containers: [{ name: WORKLOAD, image: 'example.com/shop/web:1' }],
          },
        },
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { selector: { matchLabels: labels }, minAvailable: leastAvailable(replicas, nodes) },
    },
  ];
}

/** With a single node nothing can run elsewhere meanwhile, so its budget is what one node can keep: nothing. */
function leastAvailable(replicas: number, nodes: number): number {
  return nodes === 1 ? 0 : replicas - Math.max(2, Math.ceil(replicas * 0.25));
}
