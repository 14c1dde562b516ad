import { age } from './age.ts';
import { list } from './column.ts';
import { at, textAt } from './json-path.ts';

const CONTAINERS = '.status.containerStatuses';
const FINISHED = new Set(['Succeeded', 'Failed']);

/** Containers that are ready, of all: `1/2`. */
export function podReady(pod: object): string {
  const ready = list(pod, CONTAINERS).filter((status) => at(status, '.ready') === true);
  return `${ready.length}/${list(pod, '.spec.containers').length}`;
}

/** What a pod is doing, in one word: its phase, unless a container or its deletion says more. */
export function podStatus(pod: object): string {
  const phase = textAt(pod, '.status.phase', 'Unknown');
  if (at(pod, '.metadata.deletionTimestamp') !== undefined && !FINISHED.has(phase)) return 'Terminating';
  const running = list(pod, CONTAINERS).some((status) => at(status, '.state.running') !== undefined);
  const reason = list(pod, CONTAINERS).map(containerReason).find(Boolean) ?? textAt(pod, '.status.reason', phase);
  return reason === 'Completed' && running ? 'Running' : reason;
}

function containerReason(status: unknown): string {
  return textAt(status, '.state.waiting.reason') || textAt(status, '.state.terminated.reason');
}

/** Restarts of all containers, and how long ago the last one ended: `2 (3m12s ago)`. */
export function podRestarts(pod: object, nowMs: number): string {
  const statuses = list(pod, CONTAINERS);
  const restarts = statuses.reduce<number>((sum, status) => sum + Number(at(status, '.restartCount') ?? 0), 0);
  const ends = statuses
    .map((status) => at(status, '.lastState.terminated.finishedAt'))
    .filter((end) => typeof end === 'string');
  const last = ends.toSorted().at(-1);
  return restarts > 0 && last !== undefined ? `${restarts} (${age(last, nowMs)} ago)` : String(restarts);
}
