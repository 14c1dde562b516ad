import { describe, expect, test } from '@jest/globals';
import { UPDATING_LABEL } from '../../runtime/api/marks/names.ts';
import { schedule } from '../../lab/sim/kubernetes/scheduler.ts';
import type { Node, Pod } from '../../runtime/kube/objects.ts';
import type { PodAffinity } from '../../infra/props/scheduling.ts';
import { faults } from './faults.ts';
import { literalEnv, manifests, podSpec, PROCESSES, workload } from './manifests.ts';

const near: PodAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: [
    { labelSelector: { matchLabels: { app: 'cache' } }, topologyKey: 'topology.kubernetes.io/zone' },
  ],
};

describe('priority', () => {
  test('is by classes of the operator, those of the user, or none', () => {
    const classes = (props: object) => PROCESSES.map((process) => podSpec(manifests(props), process).priorityClassName);
    const own = ['brupop-agent-priority', 'brupop-controller-high-priority', 'brupop-controller-high-priority'];
    expect(classes({})).toEqual(own);
    const agent = { priorityClassName: 'system-node-critical' };
    expect(classes({ agent })).toEqual(['system-node-critical', own[1], own[2]]);
    expect(classes({ agent, createPriorityClasses: false })).toEqual(['system-node-critical', undefined, undefined]);
  });

  test('without classes of the operator creates none', () => {
    expect(manifests({ createPriorityClasses: false }).map(({ kind }) => kind)).not.toContain('PriorityClass');
  });
});

describe('affinity to pods', () => {
  test('stands beside what the nodes have to be', () => {
    const plain = manifests();
    const objects = manifests({
      agent: { podAffinity: near },
      apiserver: { podAffinity: near, podAntiAffinity: near },
    });
    for (const process of ['agent', 'apiserver'] as const) {
      const { nodeAffinity, podAffinity } = podSpec(objects, process).affinity;
      expect(podAffinity).toEqual(near);
      expect(nodeAffinity).toEqual(podSpec(plain, process).affinity.nodeAffinity);
    }
    expect(podSpec(objects, 'apiserver').affinity.podAntiAffinity).toEqual(near);
    expect(podSpec(plain, 'agent').affinity).not.toHaveProperty('podAntiAffinity');
  });
});

describe('a replica that has to leave its node', () => {
  const pods = (nodeName: string, process: 'agent' | 'apiserver', count = 1): Pod[] =>
    Array.from({ length: count }, (_, index) => ({
      metadata: {
        name: `${process}-${nodeName}-${index}`,
        namespace: 'updates',
        uid: '',
        resourceVersion: '1',
        labels: workload(objects, process).spec.template.metadata.labels,
      },
      spec: { nodeName },
    }));
  const node = (name: string, updating = false): Node => ({
    metadata: {
      name,
      uid: '',
      resourceVersion: '1',
      labels: {
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        ...(updating && { [UPDATING_LABEL]: 'true' }),
      },
    },
    spec: { unschedulable: updating },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const objects = manifests();

  test.each([
    ['is with others rather than on a node that is being updated', [node('b', true), node('c')], 'c', false],
    ['is alone rather than with others', [node('b'), node('c')], 'b', false],
    ['waits where every other node is cordoned', [node('b', true)], undefined, false],
    ['is on a cordoned node where that is asked for', [node('b', true)], 'b', true],
    ['is not on a cordoned node while there is another', [node('b', true), node('c')], 'c', true],
  ])('%s', (_, nodes, expected, tolerateCordons) => {
    const [leaving] = pods('', 'apiserver');
    const pod = { ...leaving!, spec: podSpec(manifests({ tolerateCordons }), 'apiserver') };
    const agents = nodes.flatMap(({ metadata }) => pods(metadata.name, 'agent'));
    const none = { daemonSets: [], deployments: [], replicaSets: [], budgets: [] };
    const world = { ...none, nodes, pods: [pod, ...agents, ...pods('c', 'apiserver', 2)] };
    const [bound] = schedule(world, { now: () => 0 });
    expect(bound?.body).toMatchObject(
      expected === undefined ? { status: { phase: 'Pending' } } : { target: { name: expected } },
    );
  });
});

describe('where the pods are put', () => {
  const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
  const term = (key: string) => ({ matchExpressions: [{ key, operator: 'Exists' as const }] });

  test('what nodes must be besides holds with each alternative, and what they had better be comes last', () => {
    const nodeAffinity = {
      [REQUIRED]: { nodeSelectorTerms: [term('a'), term('b')] },
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 5, preference: term('c') }],
    };
    const of = (props: object) => podSpec(manifests(props), 'apiserver').affinity.nodeAffinity;
    const [own] = of({})[REQUIRED].nodeSelectorTerms;
    const asked = of({ apiserver: { nodeAffinity } });
    expect(asked[REQUIRED].nodeSelectorTerms).toEqual(
      ['a', 'b'].map((key) => ({ matchExpressions: [...own.matchExpressions, ...term(key).matchExpressions] })),
    );
    expect(asked.preferredDuringSchedulingIgnoredDuringExecution.at(-1)).toEqual({ weight: 5, preference: term('c') });
  });

  test('an apiserver in the network of its node still looks up names of the cluster', () => {
    expect(podSpec(manifests({ apiserver: { hostNetwork: true } }), 'apiserver')).toMatchObject({
      hostNetwork: true,
      dnsPolicy: 'ClusterFirstWithHostNet',
    });
    const { hostNetwork, dnsPolicy } = podSpec(manifests({ apiserver: { dnsPolicy: 'Default' } }), 'apiserver');
    expect([hostNetwork, dnsPolicy]).toEqual([undefined, 'Default']);
  });

  test('agents are replaced as asked, and never doubled', () => {
    const of = (updateStrategy: object) =>
      workload(manifests({ agent: { updateStrategy } }), 'agent').spec.updateStrategy;
    expect(of({ maxUnavailable: 3 })).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 3, maxSurge: 0 },
    });
    expect(of({ type: 'OnDelete' })).toEqual({ type: 'OnDelete' });
  });

  test.each(PROCESSES)('%s: further variables, and how long a pod must be ready', (process) => {
    const objects = manifests({ [process]: { env: { NODE_EXTRA_CA_CERTS: '/ca.crt' }, minReadySeconds: 9 } });
    expect(workload(objects, process).spec.minReadySeconds).toBe(9);
    expect(literalEnv(objects, process)).toEqual({
      ...literalEnv(manifests(), process),
      NODE_EXTRA_CA_CERTS: '/ca.crt',
    });
    expect(faults({ [process]: { env: { HTTP_PORT: '1' } } })).toEqual([
      `${process}.env.HTTP_PORT: expected a variable that no prop sets, got "1"`,
    ]);
  });
});

describe('spread', () => {
  const byHost = { maxSkew: 2, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' as const };
  const spreadOf = (props: object, process: 'apiserver' | 'controller') =>
    podSpec(manifests(props), process).topologySpreadConstraints;

  test('is over the pods of the process itself, unless others are named', () => {
    const others = { ...byHost, topologyKey: 'zone', labelSelector: { matchLabels: { app: 'cache' } } };
    const controller = { topologySpreadConstraints: [byHost, others] };
    const { matchLabels } = workload(manifests(), 'controller').spec.selector;
    expect(spreadOf({ controller }, 'controller')).toEqual([{ ...byHost, labelSelector: { matchLabels } }, others]);
  });

  test('replaces the one of the apiserver by zone, also by none', () => {
    expect(spreadOf({}, 'apiserver')).toHaveLength(1);
    expect(spreadOf({ apiserver: { topologySpreadConstraints: [byHost] } }, 'apiserver')).toMatchObject([byHost]);
    expect(spreadOf({ apiserver: { topologySpreadConstraints: [] } }, 'apiserver')).toBeUndefined();
  });
});

test.each([
  [{ agent: { priorityClassName: 'Not A Name' } }, 'agent.priorityClassName: expected an object name'],
  [
    { agent: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: '' }] } } },
    'agent.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.topologyKey: expected a label',
  ],
  [
    { agent: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0 }] } } },
    'agent.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.0.weight: expected a whole number from 1 to 100',
  ],
  [
    {
      controller: {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'zone',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchExpressions: [{ key: 'app', operator: 'In' }] },
          },
        ],
      },
    },
    'controller.topologySpreadConstraints.0.labelSelector.matchExpressions.0.values: expected at least one value',
  ],
  [
    {
      apiserver: {
        topologySpreadConstraints: [1, 2].map((maxSkew) => ({
          maxSkew,
          topologyKey: 'zone',
          whenUnsatisfiable: 'DoNotSchedule',
        })),
      },
    },
    'apiserver.topologySpreadConstraints.1.topologyKey: expected one constraint with DoNotSchedule for a key',
  ],
  [{ agent: { topologySpreadConstraints: [] } }, 'agent.topologySpreadConstraints: expected no such prop'],
])('what Kubernetes would refuse is refused by its path: %j', (props, fault) => {
  expect(faults(props)[0]).toContain(fault);
});
