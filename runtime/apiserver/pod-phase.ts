import type { Pod } from '../kube/objects.ts';

/** Whether all containers of the pod have ended for good. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
