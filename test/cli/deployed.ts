import type { CommandRequest } from '../../runtime/cli/command.ts';
import { type Inspection, inspect } from '../../runtime/cli/inspect.ts';
import type { Manager } from '../../runtime/controller/manager.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { CONTROLLER_DEPLOYMENT, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import type { Stage } from '../controller/stage.ts';

/** A controller's Deployment that says `env`, and the same controller at work, until the signal aborts. */
export async function deploy(
  stage: Stage,
  more: Readonly<Record<string, string>> = {},
  signal = new AbortController().signal,
): Promise<Manager> {
  const env = { MAX_FAILED_UPDATE: 'unlimited', PROOF_NODES: '100%', ...more };
  await deployContainer(stage, {
    name: 'brupop',
    image: 'x',
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
  });
  const controller = stage.start({ env, signal });
  // Conditions are written once a shadow has been quiet for a second.
  await stage.pass(2000);
  return controller;
}

/** The controller of a release that is halted: node a came back on its old version, and one may fail. */
export async function deployHalted(stage: Stage): Promise<void> {
  const time = rfc3339(stage.clock.now());
  await stage.report('a', {
    crash_count: 1,
    state_transition_failure_timestamp: time,
    failed_versions: ['1.1.0'],
    last_failure: { state: 'RebootedIntoUpdate', reason: 'BootFailed', message: 'no', version: '1.1.0', time },
  });
  await deploy(stage, { MAX_FAILED_UPDATE: '1' });
  await stage.pass();
}

export async function deployContainer(stage: Stage, container: object): Promise<void> {
  const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [container] } };
  await stage.create(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments`, {
    metadata: { name: CONTROLLER_DEPLOYMENT },
    spec: { selector: { matchLabels: { app: 'x' } }, template },
  });
}

/** What `why` makes of the cluster as it is. */
export const seenOn = ({ transport, clock }: Stage): Promise<Inspection> =>
  inspect({ transport, namespace: NAMESPACE }, clock.now());

/** What a command is given that somebody runs on the stage. @param transport their way to the cluster @default an administrator's */
export const requestOn = (
  { clock, transport: admin }: Stage,
  names: readonly string[] = [],
  { user = 'ann', transport = admin }: { readonly user?: string; readonly transport?: KubeTransport } = {},
): CommandRequest => ({ names, values: {}, clock, user, connect: async () => ({ transport, namespace: NAMESPACE }) });

const RBAC = 'rbac.authorization.k8s.io';

interface Subject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount';
  readonly name: string;
  readonly namespace?: string;
}

/** Gives somebody a role of the whole cluster. */
export function bind(stage: Stage, subject: Subject, role: string): Promise<unknown> {
  return stage.create(`/apis/${RBAC}/v1/clusterrolebindings`, {
    metadata: { name: `${role}-${subject.name}` },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [{ ...subject, ...(subject.kind !== 'ServiceAccount' && { apiGroup: RBAC }) }],
  });
}

export function createRole(stage: Stage, role: object): Promise<unknown> {
  return stage.create(`/apis/${RBAC}/v1/clusterroles`, role);
}

/** Lets somebody do that in the whole cluster, with everything unless the rule says with what. */
export async function allow(stage: Stage, subject: Subject, rule: object): Promise<void> {
  const rules = [{ apiGroups: ['*'], resources: ['*'], ...rule }];
  await createRole(stage, { metadata: { name: 'allowed' }, rules });
  await bind(stage, subject, 'allowed');
}
