import { Collection } from '../../kube/collection.ts';
import type { KubeObject, Workload } from '../../kube/objects.ts';
import { collectionPath } from '../../kube/paths.ts';
import { CONTROLLER_DEPLOYMENT, GROUP, PLURAL, STORAGE_VERSION } from '../../api/shadow/names.ts';
import type { Cluster } from '../command.ts';
import { containersOf } from '../deployed-settings.ts';
import { ifAllowed, type Read } from '../reading.ts';
import { type DoctorFinding, namesText, problem, unknown } from './finding.ts';
import type { Part } from './workloads.ts';

/** Workloads of this operator, of the older one of the same names, and of the first one. */
const WORKLOADS = [
  ['deployments', 'Deployment', CONTROLLER_DEPLOYMENT],
  ['daemonsets', 'DaemonSet', 'brupop-agent'],
  ['deployments', 'Deployment', 'update-operator-controller'],
] as const;

/** Objects of an operator in other namespaces than this one's, each as `Deployment NAMESPACE/NAME`. */
export async function othersOf({ transport, namespace }: Cluster): Promise<Read<readonly string[]>> {
  const elsewhere = `metadata.namespace!=${namespace}`;
  const found = (kind: { readonly group: string; readonly version: string; readonly plural: string }, terms: string) =>
    new Collection<KubeObject>(transport, collectionPath(kind)).list({ fieldSelector: terms });
  const workloads = WORKLOADS.map(async ([plural, kind, name]) => {
    const objects = await found({ group: 'apps', version: 'v1', plural }, `metadata.name=${name},${elsewhere}`);
    return objects.map(({ metadata }) => `${kind} ${metadata.namespace}/${name}`);
  });
  const shadows = found({ group: GROUP, version: STORAGE_VERSION, plural: PLURAL }, elsewhere).then((objects) => [
    ...new Set(objects.map(({ metadata }) => `shadows in ${metadata.namespace}`)),
  ]);
  return ifAllowed(
    Promise.all([...workloads, shadows]).then((all) => all.flat()),
    [],
  );
}

interface Seen {
  readonly others: Read<readonly string[]>;
  readonly parts: Read<readonly Part[]>;
}

/** Checks that the cluster has no second operator, and that nothing of an older one is left in the agents' pods. */
export function otherFindings({ others, parts }: Seen): readonly DoctorFinding[] {
  return [
    ...(others.refused === undefined
      ? []
      : [unknown('other operators', `you may not look for them in other namespaces (${others.refused})`)]),
    ...(others.value.length === 0
      ? []
      : [problem('other operators', `there is another one beside this: ${namesText(others.value)}`, ONE)]),
    ...parts.value.flatMap(olderFindings),
  ];
}

const ONE =
  'Two agents share one host, two controllers keep a budget each, and one webhook answers for both: take one of them away.';

function olderFindings({ name, kind, workload }: Part): readonly DoctorFinding[] {
  const left = workload ? olderFields(workload) : [];
  const says = `${name} still has ${left.join(', ')} of the older operator`;
  const todo = `\`kubectl delete ${kind} ${name} --cascade=orphan\`, then apply the manifests: its pods stay until newer ones replace them.`;
  return left.length === 0 ? [] : [problem('older fields', says, todo)];
}

/** What the older operator's workloads have and ours never do. Appliers that do not own such a field leave it where it is. */
function olderFields(workload: Workload): readonly string[] {
  const containers = containersOf(workload);
  const limits = containers.map(({ resources }) => resources?.limits?.['cpu']);
  const paths = (workload.spec?.template?.spec?.volumes ?? []).map(({ hostPath }) => hostPath?.path);
  const mounts = new Set(containers.flatMap(({ volumeMounts }) => (volumeMounts ?? []).map((one) => one.mountPath)));
  return [
    ...(limits.includes('10m') ? ['a CPU limit of 10m'] : []),
    ...(paths.some((path) => path?.endsWith('/apiclient')) ? ["the host's apiclient"] : []),
    ...(mounts.has(`${TOKENS}/`) && mounts.has(TOKENS) ? ['a second mount of the token'] : []),
  ];
}

/** The older one writes it with a slash at the end. */
const TOKENS = '/var/run/secrets/tokens';
