import { at } from './json-path.ts';

const ROLE = 'node-role.kubernetes.io/';

/** `Ready`, `NotReady` or `Unknown`, with `,SchedulingDisabled` on a cordoned node. */
export function nodeStatus(node: object): string {
  const ready = at(node, '.status.conditions[?(@.type=="Ready")].status');
  const health = ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady';
  return at(node, '.spec.unschedulable') === true ? `${health},SchedulingDisabled` : health;
}

/** The roles that a node's labels name. */
export function nodeRoles(node: object): string {
  const names = Object.keys(at(node, '.metadata.labels') ?? {});
  const roles = names.filter((name) => name.startsWith(ROLE)).map((name) => name.slice(ROLE.length));
  return roles.toSorted().join(',') || '<none>';
}
