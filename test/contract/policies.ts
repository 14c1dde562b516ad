import { expect } from '@jest/globals';
import { refusal } from '../sim/cluster/harness.ts';
import type { Contract } from './cluster.ts';
import { eventually } from './eventually.ts';

/** What an administrator can put between a drain and its evictions. */

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
