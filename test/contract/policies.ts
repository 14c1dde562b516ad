import { expect } from '@jest/globals';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { at } from '../../sim/cluster/object.ts';
import { refusal } from '../sim/cluster/harness.ts';
import type { Contract } from './cluster.ts';
import { eventually } from './eventually.ts';

/** What an administrator can put between a drain and its evictions. */

/** A transport whose role grants everything that a drain needs but evictions. */
export async function withoutEvictions(cluster: Contract): Promise<KubeTransport> {
  const { admin } = cluster;
  const namespace = await cluster.namespace();
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await admin.create(accounts, { metadata: { name: 'drainer' } });
  const roles = '/apis/rbac.authorization.k8s.io/v1';
  await admin.create(`${roles}/clusterroles`, {
    metadata: { name: namespace },
    rules: [
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'patch'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['list'] },
      { apiGroups: ['brupop.bottlerocket.aws'], resources: ['*'], verbs: ['*'] },
    ],
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
  return client.transport;
}

export interface Denial {
  readonly namespace: string;
  /** As the policy has it: `Forbidden` is 403, `Invalid` 422. */
  readonly reason: 'Forbidden' | 'Invalid';
  /** A pod of the namespace, by which it is found out that the policy has come into effect. */
  readonly probe: string;
}

/** An admission policy that denies every eviction in the namespace; once it is in effect. */
export async function deniesEvictions({ admin }: Contract, { namespace, reason, probe }: Denial): Promise<void> {
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
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: probe, namespace },
    deleteOptions: { dryRun: ['All'] },
  };
  await eventually(async () =>
    expect(
      await refusal(
        admin.create(`/api/v1/namespaces/${namespace}/pods/${probe}/eviction`, eviction, { dryRun: 'All' }),
      ),
    ).toMatchObject({ code: reason === 'Forbidden' ? 403 : 422 }),
  );
}
