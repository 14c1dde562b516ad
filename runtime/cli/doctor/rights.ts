import { collectionPath } from '../../kube/paths.ts';
import { POLICY_PLURAL } from '../../policy/names.ts';
import { CONTROLLER_DEPLOYMENT, CONTROLLER_LEASE, GROUP, PLURAL } from '../../shadow/names.ts';
import type { Cluster } from '../command.ts';
import { type Finding, ok, problem, unknown } from './finding.ts';

/** Something that commands do, and whether whoever asks may do it. */
export interface Right {
  /** Commands that need it. */
  readonly commands: string;
  /** In the words of roles, e.g. `list nodes`. */
  readonly called: string;
  /** Nothing works without it. */
  readonly isNeeded: boolean;
  readonly isAllowed: boolean;
}

interface Wanted {
  readonly commands: string;
  readonly verb: string;
  readonly group?: string;
  readonly resource: string;
  readonly name?: string;
  /** In the operator's namespace, in `default`, or in none. */
  readonly where?: 'own' | 'default';
  readonly isNeeded?: true;
}

const ALL = 'status, dashboard, why, leftovers, plan';

const wanted = (namespace: string): readonly Wanted[] => [
  { commands: ALL, verb: 'list', resource: 'nodes', isNeeded: true },
  { commands: ALL, verb: 'list', group: GROUP, resource: PLURAL, where: 'own', isNeeded: true },
  { commands: ALL, verb: 'list', resource: 'pods', where: 'own' },
  { commands: ALL, verb: 'get', group: 'apps', resource: 'deployments', name: CONTROLLER_DEPLOYMENT, where: 'own' },
  {
    commands: ALL,
    verb: 'get',
    group: 'coordination.k8s.io',
    resource: 'leases',
    name: CONTROLLER_LEASE,
    where: 'own',
  },
  { commands: ALL, verb: 'get', resource: 'namespaces', name: namespace },
  { commands: ALL, verb: 'list', group: GROUP, resource: POLICY_PLURAL },
  { commands: 'dashboard, timeline, history', verb: 'list', resource: 'events', where: 'own' },
  { commands: 'dashboard, timeline, history', verb: 'list', resource: 'events', where: 'default' },
  { commands: 'plan', verb: 'list', resource: 'pods' },
  { commands: 'plan', verb: 'list', group: 'policy', resource: 'poddisruptionbudgets' },
  { commands: 'hold, unhold, now, retry, release', verb: 'patch', resource: 'nodes' },
  { commands: 'pause, resume', verb: 'patch', resource: 'namespaces', name: namespace },
  { commands: 'pause POLICY, resume POLICY', verb: 'patch', group: GROUP, resource: POLICY_PLURAL },
];

const REVIEWS = collectionPath({ group: 'authorization.k8s.io', version: 'v1', plural: 'selfsubjectaccessreviews' });

/** Asks the API server what whoever asks may do. */
export function rightsOf({ transport, namespace }: Cluster): Promise<readonly Right[]> {
  const asked = wanted(namespace).map(async ({ commands, isNeeded = false, where, ...one }): Promise<Right> => {
    const place = where === undefined ? {} : { namespace: where === 'own' ? namespace : where };
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { ...one, ...place } },
    };
    const answer = await transport.request({ method: 'POST', path: REVIEWS, body });
    const isAllowed = (answer as { status?: { allowed?: boolean } | null }).status?.allowed === true;
    const inside = place.namespace === undefined ? '' : ` in ${place.namespace}`;
    return { commands, called: `${one.verb} ${one.resource}${inside}`, isNeeded, isAllowed };
  });
  return Promise.all(asked);
}

/** Without the rights that are needed nothing else can be looked at. */
export const mayLook = (rights: readonly Right[]): boolean =>
  rights.every(({ isNeeded, isAllowed }) => isAllowed || !isNeeded);

/** That somebody may see and not steer is no fault. */
export function rightsFindings(rights: readonly Right[]): readonly Finding[] {
  const missing = rights.filter(({ isAllowed }) => !isAllowed);
  if (missing.length === 0) return [ok('your rights', 'you may do all that kubectl brupop does')];
  return missing.map(({ called, commands, isNeeded }) => {
    const says = `you may not ${called}, which ${commands} do`;
    return isNeeded ? problem('your rights', says, ASK) : unknown('your rights', says, ASK);
  });
}

const ASK =
  'Ask whoever grants rights, if you need that: the ClusterRole brupop-view is to see, brupop-operate to steer.';
