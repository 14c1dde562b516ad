import { expect } from '@jest/globals';
import { GROUP, PLURAL } from '../../runtime/api/shadow/names.ts';
import { refusal } from '../kube/client.ts';
import type { Contract } from './cluster.ts';
import { eventually } from './eventually.ts';

/** What an administrator can put between a drain and its evictions. */

/** An admission policy that denies every eviction in the namespace: `Forbidden` is 403, `Invalid` 422. */
export function deniesEvictions(cluster: Contract, namespace: string, reason: Denial['reason']): Promise<void> {
  return deny(cluster, namespace, {
    rule: { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] },
    expression: 'false',
    message: 'no pod is evicted here',
    reason,
  });
}

/** An admission policy that denies every status in the namespace that bears the record of a failure. */
export function deniesFailures(cluster: Contract, namespace: string, reason: Denial['reason']): Promise<void> {
  return deny(cluster, namespace, {
    rule: { apiGroups: [GROUP], apiVersions: ['*'], operations: ['UPDATE'], resources: [`${PLURAL}/status`] },
    expression: '!has(object.status.last_failure)',
    message: 'no failure is told here',
    reason,
  });
}

interface Denial {
  readonly rule: object;
  /** True for what is let through. */
  readonly expression: string;
  readonly message: string;
  readonly reason: 'Forbidden' | 'Invalid';
}

async function deny({ admin }: Contract, namespace: string, { rule, ...validation }: Denial): Promise<void> {
  const policies = '/apis/admissionregistration.k8s.io/v1';
  const spec = { failurePolicy: 'Fail', matchConstraints: { resourceRules: [rule] }, validations: [validation] };
  await admin.create(`${policies}/validatingadmissionpolicies`, { metadata: { name: namespace }, spec });
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
