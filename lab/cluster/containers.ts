import type { ContainerStatus, Pod } from '../../runtime/kube/objects.ts';

export const containersOf = ({ status }: Pod): readonly ContainerStatus[] => status?.containerStatuses ?? [];

/** Why containers of the pod have ended, e.g. `OOMKilled`. */
export function endsOf(pod: Pod): readonly string[] {
  const states = containersOf(pod).flatMap(({ state, lastState }) => [state, lastState]);
  return states.flatMap((state) => state?.terminated?.reason ?? []);
}
