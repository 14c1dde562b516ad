import type { Pod } from '../../../runtime/kube/objects.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import type { PodTimes } from '../../sim/kubernetes/kubelet/pod-run.ts';
import { between } from './chance.ts';

/** On a pod: how long its containers take to be ready and to end, milliseconds. Its grace period is the limit of the second. */
export const READY_ANNOTATION = 'simulation/ready-ms';
export const ENDS_ANNOTATION = 'simulation/ends-ms';
/** On a pod: as `ENDS_ANNOTATION`, and whatever its grace period says, as where a mount hangs. */
export const STUCK_ANNOTATION = 'simulation/stuck-ms';

/** How long things take on one node. @param hasProgram whether a program runs in the pod, which ends when it ends */
export const podTimes = (random: Random, hasProgram: boolean): PodTimes => ({
  startMs: (pod) => numberOn(pod, READY_ANNOTATION, between(random, 1000, 6000)),
  endMs: (pod, isRunning) => {
    const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000;
    const own = (): number => Math.min(graceMs, numberOn(pod, ENDS_ANNOTATION, between(random, 500, 4000)));
    const endMs = hasProgram ? (): number => graceMs : own;
    return Math.max(numberOn(pod, STUCK_ANNOTATION, 0), isRunning ? endMs() : 0);
  },
  restartMs: 1000,
  retryMs: () => between(random, 1000, 60_000),
});

function numberOn({ metadata: { annotations } }: Pod, annotation: string, otherwise: number): number {
  const text = annotations?.[annotation];
  return text === undefined ? otherwise : Number(text);
}
