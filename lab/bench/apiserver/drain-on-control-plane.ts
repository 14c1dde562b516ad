import type { Bench, Figure } from '../bench.ts';
import { drainOnControlPlane } from './control-plane.ts';

const PODS = 100;
const ENDING_SECONDS = 30;

export const controlPlaneDrain: Bench = {
  name: 'drain on a real control plane',
  what: `a node with ${PODS} pods that take ${ENDING_SECONDS} s to end, by the apiserver, by kubectl drain and, if one is named, by the program OTHER_DRAIN`,
  skipped: ({ KUBECONFIG }) =>
    KUBECONFIG
      ? undefined
      : 'needs KUBECONFIG: npm run lab -- controlplane exec npm run lab -- bench --filter "real control plane"',
  run: async (context) => {
    context.progress('fills and drains nodes, one after the other');
    const { KUBECONFIG: kubeconfig = '', OTHER_DRAIN: other } = process.env;
    const taken = await drainOnControlPlane({
      kubeconfig,
      root: context.root,
      other,
      pods: PODS,
      endingSeconds: ENDING_SECONDS,
    });
    return [
      ...figures('the apiserver', taken.ours, 1.1),
      ...figures('kubectl drain', taken.kubectl),
      ...(taken.other === undefined ? [] : figures('the other program', taken.other)),
    ];
  },
};

function figures(who: string, seconds: number, atMost?: number): readonly Figure[] {
  const ratio = { name: `by ${who} / time of a pod to end`, value: seconds / ENDING_SECONDS, unit: '' };
  return [{ name: `by ${who}`, value: seconds, unit: 's' }, atMost === undefined ? ratio : { ...ratio, atMost }];
}
