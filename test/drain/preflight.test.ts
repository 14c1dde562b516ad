import { describe, expect, test } from '@jest/globals';
import { drainPod } from '../../runtime/drain/pod.ts';
import { unevictable } from '../../runtime/drain/preflight.ts';
import type { Pod, PodDisruptionBudget } from '../../runtime/kube/objects.ts';
import { NO_SPARE } from '../apiserver/budgets.ts';

describe('a pod can never be evicted', () => {
  const budget = (name: string, more: Partial<PodDisruptionBudget> = {}): PodDisruptionBudget => ({
    metadata: { name, namespace: 'shop', uid: name, resourceVersion: '1' },
    spec: { selector: { matchLabels: { app: 'web' } } },
    status: NO_SPARE,
    ...more,
  });
  const pod = (more: Partial<Pod> = {}, labels = { app: 'web' }): Pod => ({
    metadata: { name: 'web-1', namespace: 'shop', uid: 'u', resourceVersion: '1', labels },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    ...more,
  });
  const why = (subject: Pod, ...budgets: PodDisruptionBudget[]): string | undefined =>
    unevictable([drainPod(subject)], budgets).get('u');
  const unready: Partial<Pod> = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] } };

  test('under a budget without a spare, and under two at once', () => {
    expect(why(pod(), budget('web'))).toBe('PodDisruptionBudget shop/web');
    const spare = { status: { ...NO_SPARE, disruptionsAllowed: 1 } };
    expect(why(pod(), budget('a', spare), budget('b', spare))).toBe('2 PodDisruptionBudgets at once: shop/a, shop/b');
  });

  test('not where the budget is used up for the moment, not counted yet, or for other pods', () => {
    expect(why(pod(), budget('web', { status: { ...NO_SPARE, expectedPods: 2 } }))).toBeUndefined();
    expect(why(pod(), budget('web', { status: {} }))).toBeUndefined();
    expect(why(pod({}, { app: 'db' }), budget('web'))).toBeUndefined();
    const elsewhere = { name: 'web', namespace: 'other', uid: 'x', resourceVersion: '1' };
    expect(why(pod(), budget('web', { metadata: elsewhere }))).toBeUndefined();
  });

  test('where its budget can never be counted', () => {
    const conditions = [{ type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed' }] as const;
    const metadata = { ...budget('web').metadata, generation: 2 };
    const uncounted = (status: object) => budget('web', { metadata, status: { ...NO_SPARE, ...status } });
    expect(why(pod(), uncounted({}))).toBeUndefined();
    expect(why(pod(), uncounted({ conditions }))).toBe('PodDisruptionBudget shop/web');
    expect(why(pod(), uncounted({ observedGeneration: 2 }))).toBe('PodDisruptionBudget shop/web');
  });

  test('not where it provides nothing: it has not started, has ended or is ending', () => {
    for (const phase of ['Pending', 'Succeeded', 'Failed']) {
      expect(why(pod({ status: { phase } }), budget('web'), budget('other'))).toBeUndefined();
    }
    const ending = { ...pod().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(why(pod({ metadata: ending }), budget('web'))).toBeUndefined();
  });

  test('not where it is unhealthy and its budget lets such pods go', () => {
    expect(why(pod(unready), budget('web'))).toBeUndefined();
    const short = { ...NO_SPARE, currentHealthy: 0 };
    expect(why(pod(unready), budget('web', { status: short }))).toBe('PodDisruptionBudget shop/web');
    const spec = { ...budget('web').spec, unhealthyPodEvictionPolicy: 'AlwaysAllow' as const };
    expect(why(pod(unready), budget('web', { status: short, spec }))).toBeUndefined();
  });
});
