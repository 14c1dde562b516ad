import type { Pod } from '../../runtime/kube/objects.ts';

interface ContainerState {
  readonly running?: { readonly startedAt: string };
  readonly waiting?: { readonly reason?: string };
  readonly terminated?: { readonly reason?: string; readonly exitCode: number; readonly message?: string };
}

/** What a kubelet says of a container, as much of it as scenarios ask for. */
export interface Container {
  readonly restartCount: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

export function containersOf({ status }: Pod): readonly Container[] {
  return (status?.containerStatuses ?? []) as readonly unknown[] as readonly Container[];
}

/** Why containers of the pod have ended, e.g. `OOMKilled`. */
export function endsOf(pod: Pod): readonly string[] {
  const states = containersOf(pod).flatMap(({ state, lastState }) => [state, lastState]);
  return states.flatMap((state) => state?.terminated?.reason ?? []);
}
