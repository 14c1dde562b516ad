import { expect, test } from '@jest/globals';
import type { Rollout } from '../../lab/sim/rollout.ts';
import { applyAll } from '../../lab/sim/world/manifests.ts';
import {
  COMPONENT_LABEL,
  COMPONENTS,
  NAMESPACE,
  PAUSED_ANNOTATION,
  shadowName,
} from '../../runtime/api/shadow/names.ts';
import { listAll } from '../../runtime/kube/collection.ts';
import type { Node, Pod } from '../../runtime/kube/objects.ts';
import { NODES_PATH } from '../../runtime/kube/resources.ts';
import { until, withRollout } from './support.ts';

/** A node that no eviction can empty, with real processes on an embedded cluster: the next does not wait for it. */

const shadowOf = ({ recorder }: Rollout, node: string) => recorder.shadows.get(shadowName(node));
const isUpdated = (rollout: Rollout, node: string): boolean => {
  const { spec, status } = shadowOf(rollout, node) ?? {};
  return status?.current_version === '1.39.0' && spec?.state === 'Idle';
};

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

/** Names of nodes, in the order in which they start. The controller's own is last, whatever blocks the others, and left out. */
async function byAge({ world }: Rollout): Promise<readonly string[]> {
  const { transport } = world;
  const [nodes, pods] = await Promise.all([
    listAll(transport, { path: NODES_PATH, project: (node: Node) => node }),
    listAll(transport, { path: '/api/v1/pods', project: (pod: Pod) => pod }),
  ]);
  const own = pods.find((pod) => pod.metadata.labels?.[COMPONENT_LABEL] === COMPONENTS.controller)?.spec?.nodeName;
  const keys = nodes.map((node) => `${node.metadata.creationTimestamp} ${node.metadata.name}`).toSorted();
  return keys.map((key) => key.slice(key.indexOf(' ') + 1)).filter((name) => name !== own);
}

test('the first to start, blocked since it was offered its update, gives its place to the next before it is disturbed, and is drained once that is done', () =>
  // Slow enough for the next one to be told to prepare its update while the first one does.
  withRollout({ options: { speed: 10 } }, async (rollout) => {
    const { transport } = rollout.world;
    const pause = (value: '' | null) => {
      const body = { metadata: { annotations: { [PAUSED_ANNOTATION]: value } } };
      const path = `/api/v1/namespaces/${NAMESPACE}`;
      return transport.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
    };
    // Before any node is looked at: for some seconds after that, budgets are not read again.
    await applyAll(transport, [BUDGET]);
    await pause('');
    const offered = () =>
      [...rollout.recorder.shadows.values()].filter(({ status }) => status?.target_version === '1.39.0');
    await until(rollout, () => offered().length === 3);
    const [first = '', next = ''] = await byAge(rollout);
    await applyAll(transport, [guardOn(first)]);
    await pause(null);
    await until(rollout, () => shadowOf(rollout, first)?.spec.state === 'StagedAndPerformedUpdate');
    const went = new Set<string>();
    await until(rollout, () => {
      const { spec, status } = shadowOf(rollout, first) ?? {};
      went.add(`${spec?.state}${status?.drain ? ', drained' : ''}`);
      return isUpdated(rollout, next);
    });
    expect([...went]).toEqual(['StagedAndPerformedUpdate', 'Idle']);
    await until(rollout, () => shadowOf(rollout, first)?.status?.drain?.blocked_by.join().includes('guard') === true);
  }));
