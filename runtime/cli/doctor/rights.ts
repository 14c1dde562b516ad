import type { Workload } from '../../kube/objects.ts';
import type { ControllerConfig } from '../../controller/config.ts';
import { collectionPath } from '../../kube/paths.ts';
import { POLICY_PLURAL } from '../../api/policy/names.ts';
import { RELEASE_PLURAL } from '../../api/release/names.ts';
import { CONTROLLER_DEPLOYMENT, CONTROLLER_LEASE, GROUP, PLURAL } from '../../api/shadow/names.ts';
import type { Cluster } from '../command.ts';
import { ifAllowed, type Read } from '../reading.ts';
import { type DoctorFinding, ok, problem, unknown } from './finding.ts';

/** A right that commands need, and whether the user has it. */
export interface Right {
  /** The commands that need it. */
  readonly commands: string;
  /** Verb and resource, e.g. `list nodes`. */
  readonly called: string;
  /** Whether no command works without it. */
  readonly isNeeded: boolean;
  readonly isAllowed: boolean;
}

export interface Wanted {
  readonly commands: string;
  readonly verb: string;
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
  /** In the operator's namespace, in `default`, or, without this, in the whole cluster. */
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
  { commands: `releases, ${ALL}`, verb: 'list', group: GROUP, resource: RELEASE_PLURAL },
  { commands: 'dashboard, timeline, history', verb: 'list', resource: 'events', where: 'own' },
  { commands: 'dashboard, timeline, history', verb: 'list', resource: 'events', where: 'default' },
  { commands: 'logs, report', verb: 'get', resource: 'pods', subresource: 'log', where: 'own' },
  { commands: 'plan', verb: 'list', resource: 'pods' },
  { commands: 'plan', verb: 'list', group: 'policy', resource: 'poddisruptionbudgets' },
  { commands: 'hold, unhold, now, retry, cleanup', verb: 'patch', resource: 'nodes' },
  { commands: 'pause, resume', verb: 'patch', resource: 'namespaces', name: namespace },
  { commands: 'pause POLICY, resume POLICY', verb: 'patch', group: GROUP, resource: POLICY_PLURAL },
  { commands: 'halt, approve, expedite', verb: 'create', group: GROUP, resource: RELEASE_PLURAL },
  { commands: 'halt, allow, approve, expedite, rollback', verb: 'patch', group: GROUP, resource: RELEASE_PLURAL },
  { commands: 'clear', verb: 'patch', group: GROUP, resource: RELEASE_PLURAL, subresource: 'status' },
];

const REVIEWS = collectionPath({ group: 'authorization.k8s.io', version: 'v1', plural: 'selfsubjectaccessreviews' });

/** Asks the API server for the user's rights. @param of what is asked for @default all that commands need */
export function readRights(
  { transport, namespace }: Cluster,
  of: readonly Wanted[] = wanted(namespace),
): Promise<readonly Right[]> {
  const asked = of.map(async ({ commands, isNeeded = false, where, ...one }): Promise<Right> => {
    const place = where === undefined ? {} : { namespace: where === 'own' ? namespace : where };
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { ...one, ...place } },
    };
    const answer = await transport.request({ method: 'POST', path: REVIEWS, body });
    const inside = place.namespace === undefined ? '' : ` in ${place.namespace}`;
    return { commands, called: `${one.verb} ${calledOf(one)}${inside}`, isNeeded, isAllowed: allowedIn(answer) };
  });
  return Promise.all(asked);
}

const calledOf = ({ resource, subresource }: Pick<Wanted, 'resource' | 'subresource'>): string =>
  subresource === undefined ? resource : `${resource}/${subresource}`;

/** Whether the user has the rights without which no other check can be made. */
export const mayRead = (rights: readonly Right[]): boolean =>
  rights.every(({ isNeeded, isAllowed }) => isAllowed || !isNeeded);

/** Only a missing right that every command needs is a problem. A user may be allowed to read only. */
export function rightsFindings(rights: readonly Right[]): readonly DoctorFinding[] {
  const missing = rights.filter(({ isAllowed }) => !isAllowed);
  if (missing.length === 0) return [ok('your rights', 'you may do all that kubectl brupop does')];
  return missing.map(({ called, commands, isNeeded }) => {
    const says = `you may not ${called}, which ${commands} do`;
    return isNeeded ? problem('your rights', says, ASK) : unknown('your rights', says, ASK);
  });
}

const ASK = 'If you need it, ask for the ClusterRole brupop-view to read, or brupop-operate to change things as well.';

/** Whether the controller may write Kubernetes' lifecycle conditions of Nodes, as its setting demands. */
export interface LifecycleRight {
  readonly setting: ControllerConfig['NODE_LIFECYCLE_CONDITIONS'];
  readonly isAllowed: Read<boolean | undefined>;
}

interface Deployed {
  readonly config: ControllerConfig;
  /** The controller's Deployment. */
  readonly workload: Workload | undefined;
}

/** @returns undefined where the controller does not write these conditions */
export async function lifecycleRightOf(
  { transport, namespace }: Cluster,
  { config: { NODE_LIFECYCLE_CONDITIONS: setting }, workload }: Deployed,
): Promise<LifecycleRight | undefined> {
  if (setting === 'none') return undefined;
  const account = workload?.spec?.template?.spec?.serviceAccountName || 'default';
  const group = 'authorization.k8s.io';
  const path = collectionPath({ group, version: 'v1', plural: 'subjectaccessreviews' });
  const spec = {
    user: `system:serviceaccount:${namespace}:${account}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    resourceAttributes: { verb: 'patch', resource: 'nodes', subresource: 'status' },
  };
  const body = { apiVersion: `${group}/v1`, kind: 'SubjectAccessReview', spec };
  const answer = transport.request({ method: 'POST', path, body }).then(allowedIn);
  return { setting, isAllowed: await ifAllowed(answer, undefined) };
}

const allowedIn = (answer: unknown): boolean =>
  (answer as { status?: { allowed?: boolean } | null }).status?.allowed === true;

export function lifecycleFindings(right: LifecycleRight | undefined): readonly DoctorFinding[] {
  if (!right) return [];
  const { setting, isAllowed } = right;
  if (isAllowed.refused !== undefined)
    return [unknown(CHECK, `you may not ask what the controller may write (${isAllowed.refused})`)];
  if (isAllowed.value)
    return [ok(CHECK, `the controller may write them on Nodes, as NODE_LIFECYCLE_CONDITIONS=${setting} needs`)];
  const says = `the controller may not patch nodes/status, which NODE_LIFECYCLE_CONDITIONS=${setting} needs`;
  return [problem(CHECK, says, 'Apply the manifests that have this setting: the right comes with it.')];
}

const CHECK = 'lifecycle conditions';
