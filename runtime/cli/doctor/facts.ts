import { Collection } from '../../kube/collection.ts';
import { ApiStatusError } from '../../kube/errors.ts';
import type { Condition, CustomResourceDefinition, KubeObject, Lease, Pod } from '../../kube/objects.ts';
import { collectionPath } from '../../kube/paths.ts';
import { crdsOf, leasesOf, podsOf } from '../../kube/resources.ts';
import type { KubeTransport } from '../../kube/transport.ts';
import { instantOf } from '../../lib/clock.ts';
import { POLICY_CRD_NAME } from '../../api/policy/names.ts';
import { RELEASE_CRD_NAME } from '../../api/release/names.ts';
import { CONTROLLER_DEPLOYMENT, CONTROLLER_LEASE, CRD_NAME, GROUP, PLURAL } from '../../api/shadow/names.ts';
import type { Cluster } from '../command.ts';
import { inspect, type Inspection } from '../inspect.ts';
import { ifAllowed, type Read } from '../reading.ts';
import { othersOf } from './others.ts';
import { type Part, partsOf } from './workloads.ts';
import { repositoriesOf, type RepositoryState } from './repositories.ts';
import { type LifecycleRight, lifecycleRightOf, type Right } from './rights.ts';

/** The fields of cert-manager's Certificate that are read. */
export interface Certificate {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly notAfter?: string | null; readonly conditions?: readonly Condition[] | null } | null;
}

/** Everything that the checks look at, read at one moment. */
export interface Facts {
  readonly seen: Inspection;
  readonly parts: Read<readonly Part[]>;
  /** Objects of operators in other namespaces, as text. */
  readonly others: Read<readonly string[]>;
  /** All pods in the operator's namespace. */
  readonly pods: Read<readonly Pod[]>;
  readonly definition: Read<CustomResourceDefinition | undefined>;
  readonly policyDefinition: Read<CustomResourceDefinition | undefined>;
  readonly releaseDefinition: Read<CustomResourceDefinition | undefined>;
  /** Undefined where the cluster has no cert-manager. */
  readonly certificates: Read<readonly Certificate[] | undefined>;
  /** Why shadows cannot be read as v1, for which the apiserver's webhook converts them; undefined where they can. */
  readonly conversionFault: string | undefined;
  readonly lease: Read<Lease | undefined>;
  /** Leases of the kubelets. */
  readonly nodeLeases: Read<readonly Lease[]>;
  /** The API server's clock, milliseconds since the Unix epoch; undefined where it does not tell. */
  readonly serverTime: number | undefined;
  readonly repositories: readonly RepositoryState[];
  readonly rights: readonly Right[];
  /** Undefined where the controller has nothing to do with lifecycle conditions. */
  readonly lifecycle: LifecycleRight | undefined;
}

/** Reads all facts. @param rights the user's own */
export async function readFacts(cluster: Cluster, rights: readonly Right[], now: number): Promise<Facts> {
  const { transport, namespace } = cluster;
  const seen = await inspect(cluster, now);
  const [
    parts,
    others,
    pods,
    definition,
    policyDefinition,
    releaseDefinition,
    certificates,
    conversionFault,
    lease,
    nodeLeases,
    serverTime,
    repositories,
  ] = await Promise.all([
    ifAllowed(partsOf(cluster, seen.config), []),
    othersOf(cluster),
    ifAllowed(podsOf(transport, namespace).list(), []),
    ifAllowed(crdsOf(transport).get(CRD_NAME), undefined),
    ifAllowed(crdsOf(transport).get(POLICY_CRD_NAME), undefined),
    ifAllowed(crdsOf(transport).get(RELEASE_CRD_NAME), undefined),
    ifAllowed(certificatesOf(cluster), undefined),
    conversionFaultOf(cluster),
    ifAllowed(leasesOf(transport, namespace).get(CONTROLLER_LEASE), undefined),
    ifAllowed(leasesOf(transport, 'kube-node-lease').list(), []),
    serverTimeOf(transport),
    repositoriesOf(cluster),
  ]);
  const workload = parts.value.find(({ name }) => name === CONTROLLER_DEPLOYMENT)?.workload;
  const lifecycle = await lifecycleRightOf(cluster, { config: seen.config, workload });
  const defined = { definition, policyDefinition, releaseDefinition, certificates, conversionFault };
  return { seen, parts, others, pods, lease, nodeLeases, serverTime, repositories, rights, lifecycle, ...defined };
}

async function certificatesOf({ transport, namespace }: Cluster): Promise<readonly Certificate[] | undefined> {
  const path = collectionPath({ group: 'cert-manager.io', version: 'v1', plural: 'certificates', namespace });
  try {
    return await new Collection<KubeObject & Certificate>(transport, path).list();
  } catch (error) {
    if (error instanceof ApiStatusError && error.status.code === 404) return undefined;
    throw error;
  }
}

/**
 * Reads one shadow by its name. This takes it from the storage, so that the API server must call the webhook. A list would come from the API
 * server's cache, which may hold objects that were converted long ago.
 */
async function conversionFaultOf({ transport, namespace }: Cluster): Promise<string | undefined> {
  const path = collectionPath({ group: GROUP, version: 'v1', plural: PLURAL, namespace });
  try {
    const list = await transport.request({ method: 'GET', path, query: { limit: '1' } });
    const [first] = (list as { items?: readonly KubeObject[] | null }).items ?? [];
    if (first) await new Collection(transport, path).get(first.metadata.name);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiStatusError)) throw error;
    return error.status.message ?? `it answers ${error.status.code}`;
  }
}

/** The API server's time. A SelfSubjectReview is created when it is asked for, so its creation time is the present one. */
export async function serverTimeOf(transport: KubeTransport): Promise<number | undefined> {
  const group = 'authentication.k8s.io';
  const path = collectionPath({ group, version: 'v1', plural: 'selfsubjectreviews' });
  const body = { apiVersion: `${group}/v1`, kind: 'SelfSubjectReview' };
  try {
    const answer = await transport.request({ method: 'POST', path, body });
    return instantOf((answer as { metadata?: { creationTimestamp?: string } }).metadata?.creationTimestamp);
  } catch (error) {
    if (error instanceof ApiStatusError) return undefined;
    throw error;
  }
}
