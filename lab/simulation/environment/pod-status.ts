import { rfc3339 } from '../../../runtime/lib/clock.ts';
import type { Pod } from '../../../runtime/kube/objects.ts';

/** How a container ended; without a time where its kubelet was not there to see it, which the API server then states as null. */
export interface Ended {
  readonly exitCode: number;
  readonly at?: number;
}

/** What a kubelet says of the one container of a pod. */
export type Container =
  { readonly kind: 'running'; readonly since: number } | { readonly kind: 'waiting'; readonly reason: string };

export interface PodState {
  readonly container: Container;
  readonly restarts: number;
  readonly last?: Ended | undefined;
}

/** A pod's status. @param now by the clock of its kubelet, milliseconds since the Unix epoch */
export function podStatus(pod: Pod, state: PodState, now: number): object {
  const ready = state.container.kind === 'running';
  const { phase = 'Pending', startTime = rfc3339(now) } = pod.status ?? {};
  const [container = { name: 'main' }] = pod.spec?.containers ?? [];
  return {
    phase: ready ? 'Running' : phase,
    startTime,
    conditions: conditions(ready ? 'True' : 'False', rfc3339(now)),
    containerStatuses: [{ image: '', ...container, imageID: '', ready, started: ready, ...containerStatus(state) }],
  };
}

function containerStatus({ container, restarts, last }: PodState): object {
  const state =
    container.kind === 'running'
      ? { running: { startedAt: rfc3339(container.since) } }
      : { waiting: { reason: container.reason, message: `back-off after ${restarts} restarts` } };
  return { restartCount: restarts, state, lastState: last ? { terminated: terminated(last) } : {} };
}

function conditions(ready: 'True' | 'False', lastTransitionTime: string): readonly object[] {
  const states = { PodScheduled: 'True', Initialized: 'True', ContainersReady: ready, Ready: ready };
  return Object.entries(states).map(([type, status]) => ({ type, status, lastTransitionTime }));
}

function terminated({ exitCode, at }: Ended): object {
  if (at === undefined) return { exitCode, reason: 'ContainerStatusUnknown', startedAt: null, finishedAt: null };
  return { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', startedAt: null, finishedAt: rfc3339(at) };
}
