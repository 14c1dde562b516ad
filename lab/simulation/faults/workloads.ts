import type { Moment } from '../moment-names.ts';
import { begun, between, aimedAt, HOUR, MINUTE, onNode, SECOND } from './kind.ts';

const AROUND_A_DRAIN: readonly Moment[] = [
  'spec-start',
  'status-staged',
  'spec-advance',
  'drain-asked',
  'drain-announced',
  'cordon',
  'eviction',
  'drained',
  'activate',
  'reboot-recorded',
  'reboot-asked',
  'status-error-reset',
];

export const workloadFaults = aimedAt(AROUND_A_DRAIN, [
  {
    name: 'budget-blocks',
    what: "an application's budget lets no pod go",
    weight: 3,
    lasts: [10 * SECOND, HOUR],
    begin: ({ environment }, { random }) => begun('an application', environment.workloads.block(random)),
  },
  {
    name: 'pod-lands',
    what: 'a pod is bound to a node in spite of its cordon, or right before it',
    weight: 6,
    lasts: [SECOND, SECOND],
    begin: (world, terms) => onNode(world, terms, (node) => world.environment.workloads.landPod(node)),
  },
  {
    name: 'slow-pod-lands',
    what: 'a pod lands that takes its time to end',
    weight: 3,
    lasts: [SECOND, SECOND],
    begin: (world, terms) => {
      const endsMs = between([10 * SECOND, 40 * MINUTE], terms.random);
      return onNode(
        world,
        terms,
        (node) => world.environment.workloads.landSlowPod(node, endsMs),
        (node) => `${node}, ends in ${Math.round(endsMs / SECOND)} s`,
      );
    },
  },
  {
    name: 'evictions-fail',
    what: 'the API server answers 500 to each eviction',
    weight: 2.5,
    lasts: [10 * SECOND, 20 * MINUTE],
    begin: ({ cluster }) =>
      begun(
        'all pods',
        cluster.disturb(
          { verbs: ['create'], resource: 'pods', subresource: 'eviction' },
          { kind: 'refuse', code: 500, reason: 'InternalError', message: 'the budgets cannot be read' },
        ),
      ),
  },
]);
