import { expect } from '@jest/globals';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { GROUP, PLURAL } from '../../runtime/shadow/names.ts';
import { at } from '../../sim/cluster/object.ts';
import { refusal } from '../sim/cluster/harness.ts';
import type { Contract } from './cluster.ts';
import { eventually } from './eventually.ts';

/** What an administrator can put between a drain and its evictions. */

/** What a drain asks for. */
const RULES = [
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['list'] },
  { apiGroups: [GROUP], resources: [PLURAL], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [GROUP], resources: [`${PLURAL}/status`], verbs: ['patch'] },
];

/** Somebody whose role grants what a drain needs. */
export interface Granted {
  readonly transport: KubeTransport;
  /** Takes the whole role back; once it is gone. */
  readonly withdraw: () => Promise<void>;
}

/** @param but a resource that the role leaves out */
export async function granted(cluster: Contract, but?: string): Promise<Granted> {
  const { admin } = cluster;
  const namespace = await cluster.namespace();
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await admin.create(accounts, { metadata: { name: 'drainer' } });
  const roles = '/apis/rbac.authorization.k8s.io/v1';
  await admin.create(`${roles}/clusterroles`, {
    metadata: { name: namespace },
    rules: RULES.filter(({ resources }) => but === undefined || !resources.includes(but)),
  });
  await admin.create(`${roles}/clusterrolebindings`, {
    metadata: { name: namespace },
    subjects: [{ kind: 'ServiceAccount', name: 'drainer', namespace }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: namespace },
  });
  const spec = { expirationSeconds: 3600 };
  const token = at(await admin.create(`${accounts}/drainer/token`, { spec }), 'status', 'token') as string;
  const client = cluster.as(token);
  await eventually(() => client.get('/api/v1/nodes'));
  return {
    transport: client.transport,
    withdraw: async () => {
      await admin.delete(`${roles}/clusterrolebindings/${namespace}`);
      await eventually(async () => expect(await refusal(client.get('/api/v1/nodes'))).toMatchObject({ code: 403 }));
    },
  };
}

/** An admission policy that denies every eviction in the namespace: `Forbidden` is 403, `Invalid` 422. */
export async function deniesEvictions(
  { admin }: Contract,
  namespace: string,
  reason: 'Forbidden' | 'Invalid',
): Promise<void> {
  const policies = '/apis/admissionregistration.k8s.io/v1';
  await admin.create(`${policies}/validatingadmissionpolicies`, {
    metadata: { name: namespace },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] }],
      },
      validations: [{ expression: 'false', message: 'no pod is evicted here', reason }],
    },
  });
  await admin.create(`${policies}/validatingadmissionpolicybindings`, {
    metadata: { name: namespace },
    spec: {
      policyName: namespace,
      validationActions: ['Deny'],
      matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
    },
  });
}

interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** Until an eviction of the pod would be refused with this code: what is put in its way comes into effect a little later. */
export async function evictionIsRefused(
  { admin }: Contract,
  { namespace, name }: PodName,
  code: number,
): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
  const metadata = { name, namespace };
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions: { dryRun: ['All'] } };
  await eventually(async () =>
    expect(await refusal(admin.create(path, eviction, { dryRun: 'All' }))).toMatchObject({ code }),
  );
}

/** Until a deletion of the pod would be refused. */
export async function deletionIsRefused({ admin }: Contract, { namespace, name }: PodName): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  await eventually(async () =>
    expect(await refusal(admin.delete(path, undefined, { dryRun: 'All' }))).toMatchObject({ code: 403 }),
  );
}
