import { ApiStatusError } from '../../kube/errors.ts';
import { isServed } from '../../kube/discovery.ts';
import { nodesOf } from '../../kube/resources.ts';
import type { KubeTransport } from '../../kube/transport.ts';
import { viewOfNode } from '../../controller/seeing/views.ts';
import type { Cluster } from '../command.ts';
import { ifAllowed } from '../reading.ts';
import { containersOf } from '../deployed-settings.ts';
import { labelFindings } from './agents.ts';
import { ownClockFindings } from './clocks.ts';
import { serverTimeOf } from './facts.ts';
import { type DoctorFinding, ok, problem, unknown } from './finding.ts';
import { otherFindings, othersOf } from './others.ts';
import { readRights, type Right, type Wanted } from './rights.ts';
import { type Part, partsOf } from './workloads.ts';

/** The oldest minor version of Kubernetes 1 that the operator is tested with. */
export const OLDEST_KUBERNETES = 33;

/** What installing creates first. The rest is of kinds that whoever may create these may create as well. */
const CREATED: readonly Wanted[] = [
  { resource: 'namespaces' },
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
  { group: 'scheduling.k8s.io', resource: 'priorityclasses' },
].map((one) => Object.assign(one, { verb: 'create', commands: 'installing' }));

/** Looks at what the operator needs of a cluster that does not have it yet. @param now by the clock of this machine */
export async function findingsBefore(cluster: Cluster, now: number): Promise<readonly DoctorFinding[]> {
  const { transport } = cluster;
  const [kubernetes, certManager, nodes, others, parts, rights, serverTime] = await Promise.all([
    kubernetesFinding(transport),
    certManagerFinding(transport),
    ifAllowed(nodesOf(transport).list(), []),
    othersOf(cluster),
    ifAllowed(partsOf(cluster), []),
    readRights(cluster, CREATED),
    serverTimeOf(transport),
  ]);
  const isRefused = nodes.refused !== undefined;
  return [
    kubernetes,
    certManager,
    ...(isRefused
      ? [unknown('nodes', `you may not list them (${nodes.refused})`)]
      : labelFindings(nodes.value.map((node) => viewOfNode(node)))),
    ...otherFindings({ others, parts }),
    ...parts.value.flatMap((part) => presentFinding(part, cluster.namespace)),
    ...ownClockFindings(serverTime, now),
    ...rightFindings(rights),
  ];
}

async function kubernetesFinding(transport: KubeTransport): Promise<DoctorFinding> {
  const { value, refused } = await ifAllowed(transport.request({ method: 'GET', path: '/version' }), {});
  const { gitVersion = '' } = value as { readonly gitVersion?: string };
  const minor = Number(/^v1\.(\d+)/.exec(gitVersion)?.[1]);
  if (refused !== undefined || Number.isNaN(minor))
    return unknown('kubernetes', `its version is not known${refused === undefined ? '' : ` (${refused})`}`);
  return minor >= OLDEST_KUBERNETES
    ? ok('kubernetes', `the cluster is ${gitVersion}`)
    : unknown('kubernetes', `the cluster is ${gitVersion}, and nothing before 1.${OLDEST_KUBERNETES} is tested`);
}

async function certManagerFinding(transport: KubeTransport): Promise<DoctorFinding> {
  const kind = { group: 'cert-manager.io', version: 'v1', plural: 'certificates' };
  const served = await isServed(transport, kind).catch((error: unknown) => {
    if (error instanceof ApiStatusError && error.status.code === 404) return false;
    throw error;
  });
  return served
    ? ok('cert-manager', 'the cluster knows Certificates')
    : problem('cert-manager', 'the cluster does not know Certificates', CERT_MANAGER);
}

const CERT_MANAGER = 'Install cert-manager, unless the operator gets certificates of your own.';

/** A part of the same name in the operator's namespace. */
function presentFinding({ name, workload }: Part, namespace: string): readonly DoctorFinding[] {
  const [container] = workload ? containersOf(workload) : [];
  if (!workload) return [];
  return [unknown('parts', `${namespace} has ${name} already, of ${container?.image ?? 'no image'}`, IN_PLACE)];
}

const IN_PLACE = 'Applying the manifests replaces it in place: docs/migrating.md says what that changes.';

function rightFindings(rights: readonly Right[]): readonly DoctorFinding[] {
  const missing = rights.filter(({ isAllowed }) => !isAllowed).map(({ called }) => called);
  if (missing.length === 0) return [ok('your rights', 'you may create what the operator begins with')];
  return [unknown('your rights', `you may not ${missing.join(', ')}`, 'Whoever installs the operator has to.')];
}
