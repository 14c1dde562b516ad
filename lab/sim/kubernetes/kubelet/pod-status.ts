import type { Condition, ContainerStatus, Pod } from '../../../../runtime/kube/objects.ts';
import { rfc3339 } from '../../../../runtime/lib/clock.ts';

/** How containers ended; without a time where their kubelet was not there to see it, which the API server then states as null. Times are milliseconds since the Unix epoch. */
export interface Ended {
  readonly exitCode: number;
  readonly at?: number;
}

/** What a kubelet says of the containers of a pod: all of them do the same here. */
export type Container =
  | { readonly kind: 'running'; readonly since: number; readonly ready?: boolean }
  | { readonly kind: 'waiting'; readonly reason: string };

export interface PodState {
  readonly container: Container;
  /** How often the containers have been started before, and how they last ended. */
  readonly restarts: number;
  readonly last?: Ended | undefined;
}

/** A pod's status. @param now by the clock of its kubelet */
export function podStatus(pod: Pod, state: PodState, now: number): object {
  const { container } = state;
  const running = container.kind === 'running';
  const ready = running && (container.ready ?? true);
  const startTime = pod.status?.startTime ?? rfc3339(running ? container.since : now);
  return {
    ...(running && { phase: 'Running' }),
    startTime,
    conditions: conditions(pod, ready ? 'True' : 'False', rfc3339(now)),
    containerStatuses: containers(pod, state, ready),
  };
}

/** What has not changed has the time of before. */
function conditions(pod: Pod, ready: 'True' | 'False', lastTransitionTime: string): readonly Condition[] {
  const states = { PodScheduled: 'True', Initialized: 'True', ContainersReady: ready, Ready: ready } as const;
  const known = pod.status?.conditions ?? [];
  return Object.entries(states).map(
    ([type, status]) =>
      known.find((one) => one.type === type && one.status === status) ?? { type, status, lastTransitionTime },
  );
}

function containers(pod: Pod, { container, restarts, last }: PodState, ready: boolean): readonly ContainerStatus[] {
  const running = container.kind === 'running';
  const state = running
    ? { running: { startedAt: rfc3339(container.since) } }
    : { waiting: { reason: container.reason } };
  const lastState = last === undefined ? {} : { terminated: terminated(last) };
  return (pod.spec?.containers ?? []).map(({ name, image = '' }) => ({
    name,
    image,
    imageID: '',
    ready,
    started: running,
    restartCount: restarts,
    state,
    lastState,
  }));
}

function terminated({ exitCode, at }: Ended) {
  if (at === undefined) return { exitCode, reason: 'ContainerStatusUnknown' };
  return { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', finishedAt: rfc3339(at) };
}
