import { HOUR, MINUTE, SECOND } from '../units.ts';
import { aimedAt, all, AT_ONCE, begun, between, fault, type Kinds, moments, ofNode, onNode } from './kind.ts';

const AROUND_A_DRAIN = moments(
  'spec-start status-staged spec-advance drain-asked drain-announced cordon eviction drained activate reboot-recorded reboot-asked status-error-reset',
);

export const workloadFaults: Kinds = aimedAt(AROUND_A_DRAIN, {
  'budget-blocks': fault(
    "an application's budget lets no pod go",
    3,
    [10 * SECOND, HOUR],
    ({ environment }, { random }) => begun('an application', environment.workloads.block(random)),
  ),
  'quota-used-up': fault(
    'a quota lets no application have new pods',
    2,
    [10 * SECOND, 30 * MINUTE],
    ({ environment }) => begun('all applications', all(environment.workloads.withhold())),
  ),
  'pod-lands': ofNode(
    'a pod is bound to a node in spite of its cordon, or right before it',
    6,
    AT_ONCE,
    ({ workloads }, node) => workloads.landPod(node),
  ),
  'slow-pod-lands': fault('a pod lands that takes its time to end', 3, AT_ONCE, (world, terms) => {
    const endsMs = between([10 * SECOND, 40 * MINUTE], terms.random);
    const begin = (node: string): void => world.environment.workloads.landSlowPod(node, endsMs);
    return onNode(world, terms, begin, (node) => `${node}, ends in ${Math.round(endsMs / SECOND)} s`);
  }),
  'evictions-fail': fault(
    'the API server answers 500 to each eviction',
    2.5,
    [10 * SECOND, 20 * MINUTE],
    ({ cluster }) =>
      begun(
        'all pods',
        cluster.disturb(
          { verbs: ['create'], resource: 'pods', subresource: 'eviction' },
          { kind: 'refuse', code: 500, reason: 'InternalError', message: 'the budgets cannot be read' },
        ),
      ),
  ),
});
