import type { Condition, ContainerStatus, Pod } from '../../../../runtime/kube/objects.ts';
import { rfc3339 } from '../../../../runtime/lib/clock.ts';

/** How often the containers of a pod have been started before, and how they last ended. */
export interface History {
  readonly restarts: number;
  readonly ended?: {
    /** Milliseconds since the Unix epoch. */
    readonly atMs: number;
    readonly exitCode: number;
  };
}

/** What a container runtime says of containers that were gone when it came up. */
const LOST_EXIT_CODE = 255;

/** What the API knows of a pod's earlier containers; those of the node's last boot ended, at the latest, now. */
export function history({ status }: Pod, nowMs: number): History {
  const counts = status?.containerStatuses?.map(({ restartCount }) => restartCount + 1) ?? [];
  return counts.length === 0
    ? { restarts: 0 }
    : { restarts: Math.max(...counts), ended: { atMs: nowMs, exitCode: LOST_EXIT_CODE } };
}

/** Containers that run, since when and how; milliseconds since the Unix epoch. */
export interface Run {
  readonly sinceMs: number;
  readonly nowMs: number;
  readonly ready: boolean;
}

/** Status of a pod whose containers run. */
export function running(pod: Pod, past: History, { sinceMs, nowMs, ready }: Run): object {
  const startedAt = rfc3339(sinceMs);
  return {
    phase: 'Running',
    startTime: pod.status?.startTime ?? startedAt,
    conditions: conditions(pod, ready ? 'True' : 'False', rfc3339(nowMs)),
    containerStatuses: containers(pod, { state: { running: { startedAt } }, ready }, past),
  };
}

/** Status of a pod whose containers ended by themselves and wait to be started again. */
export function crashed(pod: Pod, past: History, nowMs: number): object {
  return {
    phase: 'Running',
    conditions: conditions(pod, 'False', rfc3339(nowMs)),
    containerStatuses: containers(pod, { state: { waiting: { reason: 'CrashLoopBackOff' } }, ready: false }, past),
  };
}

function conditions(pod: Pod, ready: 'True' | 'False', lastTransitionTime: string): readonly Condition[] {
  const always = ['PodScheduled', 'Initialized'].map((type) => ({ type, status: 'True' as const, lastTransitionTime }));
  const now = ['ContainersReady', 'Ready'].map((type) => ({ type, status: ready, lastTransitionTime }));
  const known = pod.status?.conditions ?? [];
  return [...always, ...now].map(
    (wanted) => known.find(({ type, status }) => type === wanted.type && status === wanted.status) ?? wanted,
  );
}

interface Now {
  readonly state: NonNullable<ContainerStatus['state']>;
  readonly ready: boolean;
}

function containers(pod: Pod, { state, ready }: Now, { restarts, ended }: History): readonly ContainerStatus[] {
  const lastState = ended === undefined ? {} : { terminated: terminated(ended) };
  return (pod.spec?.containers ?? []).map(({ name, image = '' }) => ({
    name,
    image,
    imageID: '',
    ready,
    started: state.running !== undefined,
    restartCount: restarts,
    state,
    lastState,
  }));
}

function terminated({ atMs, exitCode }: NonNullable<History['ended']>) {
  return { reason: exitCode === 0 ? 'Completed' : 'Error', exitCode, finishedAt: rfc3339(atMs) };
}
