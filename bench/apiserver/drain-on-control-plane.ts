import type { Bench } from '../bench.ts';
import { drainOnControlPlane } from './control-plane.ts';

const PODS = 100;
const ENDING_SECONDS = 30;

export const controlPlaneDrain: Bench = {
  name: 'drain on a real control plane',
  what: `a node with ${PODS} pods that take ${ENDING_SECONDS} s to end, by the apiserver and by kubectl drain`,
  skipped: ({ KUBECONFIG }) =>
    KUBECONFIG
      ? undefined
      : 'needs KUBECONFIG: npm run controlplane -- exec npm run bench -- --filter "real control plane"',
  run: async (context) => {
    context.progress('fills and drains two nodes, one after the other');
    const kubeconfig = process.env['KUBECONFIG'] ?? '';
    const { ours, kubectl } = await drainOnControlPlane({
      kubeconfig,
      root: context.root,
      pods: PODS,
      endingSeconds: ENDING_SECONDS,
    });
    return [
      { name: 'by the apiserver', value: ours, unit: 's' },
      { name: 'by the apiserver / time of a pod to end', value: ours / ENDING_SECONDS, unit: '', atMost: 1.1 },
      { name: 'by kubectl drain', value: kubectl, unit: 's' },
      { name: 'by kubectl drain / time of a pod to end', value: kubectl / ENDING_SECONDS, unit: '' },
    ];
  },
};
