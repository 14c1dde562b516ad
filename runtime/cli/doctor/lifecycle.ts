import type { ControllerConfig } from '../../controller/config.ts';
import { collectionPath } from '../../kube/paths.ts';
import type { Cluster } from '../command.ts';
import type { Workload } from '../deployed-settings.ts';
import { ifAllowed, type Read } from '../reading.ts';
import { type Finding, ok, problem, unknown } from './finding.ts';

/** What the controller is told to do with Kubernetes' lifecycle conditions of Nodes, and whether it may. */
export interface LifecycleRight {
  readonly setting: ControllerConfig['NODE_LIFECYCLE_CONDITIONS'];
  readonly isAllowed: Read<boolean | undefined>;
}

interface Asked {
  readonly config: ControllerConfig;
  /** The controller's Deployment. */
  readonly workload: Workload | undefined;
}

/** @returns undefined where the controller has nothing to do with them */
export async function lifecycleRightOf(
  { transport, namespace }: Cluster,
  { config: { NODE_LIFECYCLE_CONDITIONS: setting }, workload }: Asked,
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

export function lifecycleFindings(right: LifecycleRight | undefined): readonly Finding[] {
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
