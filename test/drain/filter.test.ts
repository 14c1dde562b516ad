import { describe, expect, test } from '@jest/globals';
import { type PodDeleteStatus, podDeleteStatus } from '../../runtime/drain/filter.ts';
import { drainPod } from '../../runtime/drain/pod.ts';
import type { OwnerReference, Pod, Toleration } from '../../runtime/kube/objects.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';

const TERMS = {
  lateAfter: Date.parse('2026-01-01T00:00:00Z'),
  returning: new Set<string>(),
  overdue: { from: Infinity, to: -Infinity },
  namespace: NAMESPACE,
};

interface Parts {
  readonly owners?: readonly OwnerReference[];
  readonly tolerations?: readonly Toleration[];
}

/** What becomes of a pod that came after the cordon. */
function status({ owners = [], tolerations = [] }: Parts): PodDeleteStatus {
  const pod: Pod = {
    metadata: {
      name: 'p',
      namespace: 'shop',
      uid: 'p',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:01Z',
      ownerReferences: owners,
    },
    spec: { tolerations },
  };
  return podDeleteStatus(drainPod(pod), TERMS);
}

describe('a pod is left for its DaemonSet’s sake', () => {
  const owner: OwnerReference = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd' };

  test('where the DaemonSet controls it', () => {
    expect(status({ owners: [{ ...owner, controller: true }] })).toBe('daemonset');
  });

  test.each<[string, Partial<OwnerReference>]>([
    ['owns it and does not control it', {}],
    ['owns it and says that it does not control it', { controller: false }],
  ])('and not where a DaemonSet %s: nothing would make it anew', (_, more) => {
    expect(status({ owners: [{ ...owner, ...more }] })).toBe('evict');
  });
});

describe('a late pod is left where it tolerates the cordon', () => {
  const key = 'node.kubernetes.io/unschedulable';

  test.each<[string, Toleration]>([
    ['by its key', { key, operator: 'Exists' }],
    ['by its key and its empty value', { key }],
    ['by every key', { operator: 'Exists' }],
    ['with its effect', { key, operator: 'Exists', effect: 'NoSchedule' }],
  ])('%s', (_, toleration) => expect(status({ tolerations: [toleration] })).toBe('tolerates-cordon'));

  test.each<[string, Toleration]>([
    ['with another effect', { key, operator: 'Exists', effect: 'NoExecute' }],
    ['by every key, with another effect', { operator: 'Exists', effect: 'NoExecute' }],
    ['with another key', { key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
    ['with another value', { key, operator: 'Equal', value: 'true' }],
    ['with no key, and an operator that needs one', { operator: 'Equal' }],
  ])('and evicted where it tolerates %s', (_, toleration) => {
    expect(status({ tolerations: [toleration] })).toBe('evict');
  });
});
