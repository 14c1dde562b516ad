import type { ResourceType } from '../resources.ts';
import { age } from './age.ts';
import { at, textAt } from './json-path.ts';

/** One column of a table, and how its cell is read from an object. */
export interface Column {
  readonly name: string;
  /** `integer`, `string` or `date`, as in the API's column definitions. */
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** 0: always shown; 1: only with `-o wide`. */
  readonly priority: number;
  cell(object: object, nowMs: number): unknown;
}

type Read = (object: object, nowMs: number) => unknown;

const text = (name: string, cell: Read): Column => ({ name, type: 'string', priority: 0, cell });
const wide = (name: string, cell: Read): Column => ({ ...text(name, cell), priority: 1 });

export const nameColumn: Column = { ...text('Name', value('.metadata.name')), format: 'name' };
export const ageColumn: Column = text('Age', (object, nowMs) => age(at(object, '.metadata.creationTimestamp'), nowMs));

/** The value at a path as text; `<none>` (or `absent`) where there is none. */
function value(path: string, absent = '<none>'): Read {
  return (object) => textAt(object, path, absent);
}

/** The elements of a list at a path. */
function list(object: object, path: string): readonly unknown[] {
  const found = at(object, path);
  return Array.isArray(found) ? found : [];
}

/** The columns in which kubectl shows what one looks at in a rollout; of any other built-in resource its name and age. */
export function builtInColumns({ plural, group }: ResourceType): readonly Column[] {
  return (group === '' && COLUMNS[plural]) || [nameColumn, ageColumn];
}

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  nodes: [
    nameColumn,
    text('Status', nodeStatus),
    text('Roles', nodeRoles),
    ageColumn,
    text('Version', value('.status.nodeInfo.kubeletVersion', '')),
    wide('OS-Image', value('.status.nodeInfo.osImage', '<unknown>')),
  ],
  pods: [
    nameColumn,
    text('Ready', podReady),
    text('Status', podStatus),
    text('Restarts', podRestarts),
    ageColumn,
    wide('Node', value('.spec.nodeName')),
  ],
};

const ROLE = 'node-role.kubernetes.io/';

/** `Ready`, `NotReady` or `Unknown`, with `,SchedulingDisabled` on a cordoned node. */
function nodeStatus(node: object): string {
  const ready = at(node, '.status.conditions[?(@.type=="Ready")].status');
  const health = ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady';
  return at(node, '.spec.unschedulable') === true ? `${health},SchedulingDisabled` : health;
}

/** The roles that a node's labels name. */
function nodeRoles(node: object): string {
  const names = Object.keys(at(node, '.metadata.labels') ?? {});
  const roles = names.filter((name) => name.startsWith(ROLE)).map((name) => name.slice(ROLE.length));
  return roles.toSorted().join(',') || '<none>';
}

const CONTAINERS = '.status.containerStatuses';
const FINISHED = new Set(['Succeeded', 'Failed']);

/** Containers that are ready, of all: `1/2`. */
function podReady(pod: object): string {
  const ready = list(pod, CONTAINERS).filter((status) => at(status, '.ready') === true);
  return `${ready.length}/${list(pod, '.spec.containers').length}`;
}

/** What a pod is doing, in one word: its phase, unless a container or its deletion says more. */
function podStatus(pod: object): string {
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
function podRestarts(pod: object, nowMs: number): string {
  const statuses = list(pod, CONTAINERS);
  const restarts = statuses.reduce<number>((sum, status) => sum + Number(at(status, '.restartCount') ?? 0), 0);
  const ends = statuses
    .map((status) => at(status, '.lastState.terminated.finishedAt'))
    .filter((end) => typeof end === 'string');
  const last = ends.toSorted().at(-1);
  return restarts > 0 && last !== undefined ? `${restarts} (${age(last, nowMs)} ago)` : String(restarts);
}
