import { expect, test } from '@jest/globals';
import type { Rollout } from '../../lab/sim/rollout.ts';
import { applyAll } from '../../lab/sim/world/manifests.ts';
import { HOLD_ANNOTATION, NAMESPACE, PAUSED_ANNOTATION, shadowName } from '../../runtime/api/shadow/names.ts';
import { until, withRollout } from './support.ts';

/** A node that no eviction can empty, with real processes on an embedded cluster: the others do not wait for it. */

const shadowOf = ({ recorder }: Rollout, node: string) => recorder.shadows.get(shadowName(node));
const isUpdated = (rollout: Rollout, node: string): boolean => {
  const { spec, status } = shadowOf(rollout, node) ?? {};
  return status?.current_version === '1.39.0' && spec?.state === 'Idle';
};

const [FIRST, ...OTHERS] = ['node-1', 'node-2', 'node-3'] as const;
const MERGE = 'application/merge-patch+json';
const metadata = { name: 'guard', namespace: 'shop', labels: { app: 'guard' } };
const BUDGET = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata,
  spec: { minAvailable: 1, selector: { matchLabels: metadata.labels } },
};
/** The only pod that the budget covers. */
const guardOn = (nodeName: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
  spec: { nodeName, containers: [{ name: 'a', image: 'a' }] },
});

test('the first to start gives its place to the others before it is disturbed, and is drained once they are done', () =>
  // Slow enough for the others to be let go while the first one prepares its update.
  withRollout({ options: { speed: 10 } }, async (rollout) => {
    const { transport } = rollout.world;
    const note = (path: string, annotations: object) =>
      transport.request({ method: 'PATCH', path, body: { metadata: { annotations } }, contentType: MERGE });
    const pause = (value: '' | null) => note(`/api/v1/namespaces/${NAMESPACE}`, { [PAUSED_ANNOTATION]: value });
    const hold = (value: '' | null) =>
      Promise.all(OTHERS.map((node) => note(`/api/v1/nodes/${node}`, { [HOLD_ANNOTATION]: value })));
    await pause('');
    await until(rollout, () => rollout.recorder.shadows.size === 3);
    await Promise.all([hold(''), applyAll(transport, [BUDGET, guardOn(FIRST)])]);
    await pause(null);
    await until(rollout, () => shadowOf(rollout, FIRST)?.spec.state === 'StagedAndPerformedUpdate');
    await hold(null);
    const went = new Set<string>();
    await until(rollout, () => {
      const { spec, status } = shadowOf(rollout, FIRST) ?? {};
      went.add(`${spec?.state}${status?.drain ? ', drained' : ''}`);
      return OTHERS.every((node) => isUpdated(rollout, node));
    });
    expect([...went]).toEqual(['StagedAndPerformedUpdate', 'Idle']);
    await until(rollout, () => shadowOf(rollout, FIRST)?.status?.drain?.blocked_by.join().includes('guard') === true);
  }));
