import { describe, expect, test } from '@jest/globals';
import { budgets } from '../../../sim/kubernetes/budgets.ts';
import { nodes } from '../../../sim/kubernetes/nodes.ts';
import { schedule } from '../../../sim/kubernetes/scheduler.ts';
import type { Budget, PodSpec, SimNode, SimPod, Taint, World } from '../../../sim/kubernetes/types.ts';
import { VirtualClock } from '../../../sim/clock.ts';

const EMPTY: World = { nodes: [], pods: [], daemonSets: [], deployments: [], replicaSets: [], budgets: [] };
const clock = new VirtualClock();

interface NodeOptions {
  readonly ready?: boolean;
  readonly unschedulable?: boolean;
  readonly taints?: readonly Taint[];
  readonly labels?: Readonly<Record<string, string>>;
}

function node(name: string, { ready = true, labels = {}, ...spec }: NodeOptions = {}): SimNode {
  const conditions = [{ type: 'Ready', status: ready ? ('True' as const) : ('Unknown' as const) }];
  return { metadata: { name, uid: `uid-${name}`, resourceVersion: '7', labels }, spec, status: { conditions } };
}

interface PodOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly ready?: boolean;
  readonly deleted?: boolean;
}

function pod(
  name: string,
  spec: PodSpec = {},
  { labels = { app: 'web' }, owner, ready = true, deleted }: PodOptions = {},
): SimPod {
  const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', controller: true };
  return {
    metadata: {
      name,
      namespace: 'shop',
      uid: `uid-${name}`,
      resourceVersion: '1',
      labels,
      ...(owner && { ownerReferences: [{ ...reference, uid: owner }] }),
      ...(deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec,
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

/** Where each waiting pod is sent. */
function placements(world: Partial<World>): Readonly<Record<string, string>> {
  const bindings = schedule({ ...EMPTY, ...world }, clock)
    .map(
      ({ body }) =>
        body as { readonly target?: { readonly name: string }; readonly metadata: { readonly name: string } },
    )
    .filter(({ target }) => target !== undefined);
  return Object.fromEntries(bindings.map(({ metadata, target }) => [metadata.name, target?.name ?? '']));
}

describe('the scheduler', () => {
  test('spreads pods over the nodes that have the fewest', () => {
    const pods = [pod('a', { nodeName: 'n1' }), pod('b'), pod('c'), pod('d')];
    expect(placements({ nodes: [node('n1'), node('n2')], pods })).toEqual({ b: 'n2', c: 'n1', d: 'n2' });
  });

  test.each<readonly [string, NodeOptions]>([
    ['a cordoned node', { unschedulable: true }],
    ['a node that is not Ready', { ready: false }],
    ['a tainted node', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] }],
  ])('sends nothing to %s, and says once that the pod waits', (_, options) => {
    const world = { ...EMPTY, nodes: [node('n1', options)], pods: [pod('a')] };
    const [said, ...more] = schedule(world, clock);
    expect(more).toEqual([]);
    expect(said).toMatchObject({ method: 'PATCH', body: { status: { conditions: [{ reason: 'Unschedulable' }] } } });
    const waiting = {
      ...pod('a'),
      status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
    };
    expect(schedule({ ...world, pods: [waiting as SimPod] }, clock)).toEqual([]);
  });

  test('lets a toleration of the cordon through', () => {
    const tolerations = [
      { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
    ] as const;
    const taints = [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }];
    const cordoned = node('n1', { unschedulable: true, taints });
    expect(placements({ nodes: [cordoned], pods: [pod('a', { tolerations })] })).toEqual({ a: 'n1' });
  });

  test('keeps to required affinity and follows preferences over emptiness', () => {
    const zone = (...values: string[]): object => ({ matchExpressions: [{ key: 'zone', operator: 'In', values }] });
    const required = { nodeSelectorTerms: [zone('a', 'b')] };
    const preferred = [{ weight: 100, preference: zone('b') }];
    const nodeAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: required,
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
    };
    const all = [node('n1', { labels: { zone: 'a' } }), node('n2', { labels: { zone: 'b' } }), node('n3')];
    const pods = [pod('old', { nodeName: 'n2' }), pod('new', { affinity: { nodeAffinity } })];
    expect(placements({ nodes: all, pods })).toEqual({ new: 'n2' });
    expect(placements({ nodes: all.slice(2), pods })).toEqual({});
  });

  test('makes as much of each kind of preference, whatever the weights: they tell terms of one kind apart', () => {
    const preference = { matchExpressions: [{ key: 'old', operator: 'DoesNotExist' }] };
    const podAffinityTerm = { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' };
    const affinity = {
      nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }] },
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm }] },
    };
    const all = [node('n1'), node('n2', { labels: { old: 'true' } })];
    expect(placements({ nodes: all, pods: [pod('a', { nodeName: 'n1' }), pod('b', { affinity })] })).toEqual({
      b: 'n2',
    });
  });

  test('takes nodes of one label for one place', () => {
    const term = { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'rack' };
    const spec = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
    const rack = (name: string, value: string) => node(name, { labels: { rack: value } });
    const all = [rack('n1', 'a'), rack('n2', 'a'), rack('n3', 'b')];
    expect(placements({ nodes: all, pods: [pod('a', { nodeName: 'n1' }), pod('b', spec), pod('c', spec)] })).toEqual({
      b: 'n3',
    });
  });

  test('keeps pods apart that must not share a node', () => {
    const term = { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' };
    const spec = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
    expect(
      placements({ nodes: [node('n1'), node('n2')], pods: [pod('a', spec), pod('b', spec), pod('c', spec)] }),
    ).toEqual({
      a: 'n1',
      b: 'n2',
    });
  });
});

describe('a disruption budget', () => {
  const metadata = { name: 'web', namespace: 'shop', uid: 'b', resourceVersion: '1', generation: 2 };
  const selector = { matchLabels: { app: 'web' } };
  const set = {
    metadata: { name: 'web', uid: 'rs', resourceVersion: '1' },
    spec: { replicas: 4, selector, template: { spec: {} } },
  };

  const NOW = Date.parse('2026-01-01T00:01:00Z');

  function status(
    spec: Partial<Budget['spec']>,
    pods: readonly SimPod[],
    known: Budget['status'] = {},
    now = NOW,
  ): object {
    const budget = { metadata, spec: { selector, ...spec }, status: known };
    const [request] = budgets({ ...EMPTY, pods, replicaSets: [set], budgets: [budget] }, { now: () => now });
    return (request!.body as { readonly status: object }).status;
  }

  const four = ['a', 'b', 'c', 'd'].map((name) => pod(name, { nodeName: 'n1' }, { owner: 'rs' }));

  test.each<readonly [Partial<Budget['spec']>, number, number]>([
    [{ minAvailable: 3 }, 3, 1],
    [{ minAvailable: '60%' }, 3, 1],
    [{ maxUnavailable: 1 }, 3, 1],
    [{ maxUnavailable: '30%' }, 2, 2],
    [{ maxUnavailable: 0 }, 4, 0],
    [{ minAvailable: 9 }, 9, 0],
  ])('%j of 4 pods wants %d healthy and allows %d', (spec, desiredHealthy, disruptionsAllowed) => {
    expect(status(spec, four)).toMatchObject({
      expectedPods: 4,
      currentHealthy: 4,
      desiredHealthy,
      disruptionsAllowed,
    });
  });

  test('counts what its owner should have, not what is left of it', () => {
    expect(status({ maxUnavailable: 1 }, four.slice(1))).toMatchObject({ expectedPods: 4, disruptionsAllowed: 0 });
  });

  test('takes neither unready pods nor pods on their way out for healthy', () => {
    const weak = [
      pod('a', {}, { owner: 'rs', ready: false }),
      pod('b', {}, { owner: 'rs', deleted: true }),
      ...four.slice(2),
    ];
    expect(status({ minAvailable: 1 }, weak)).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
  });

  test('counts a granted eviction until the deletion is seen', () => {
    const disruptedPods = { a: '2026-01-01T00:00:00Z', gone: '2026-01-01T00:00:00Z' };
    expect(status({ minAvailable: 3 }, four, { disruptedPods })).toMatchObject({
      currentHealthy: 3,
      disruptionsAllowed: 0,
      disruptedPods: { a: '2026-01-01T00:00:00Z' },
    });
  });

  test('no longer counts one after two minutes in which nobody has deleted the pod', () => {
    const disruptedPods = { a: '2026-01-01T00:00:00Z' };
    expect(status({ minAvailable: 3 }, four, { disruptedPods }, NOW + 60_000)).toMatchObject({
      currentHealthy: 4,
      disruptionsAllowed: 1,
      disruptedPods: {},
    });
  });

  test('is not written again when nothing changed', () => {
    const budget = { metadata, spec: { selector, minAvailable: 3 }, status: status({ minAvailable: 3 }, four) };
    expect(budgets({ ...EMPTY, pods: four, replicaSets: [set], budgets: [budget] }, { now: () => NOW })).toEqual([]);
  });
});

describe('nodes', () => {
  const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
  const other = { key: 'gpu', effect: 'NoSchedule' };

  test('the taint of a cordon comes and goes with it and leaves others alone', () => {
    const bodies = nodes({
      ...EMPTY,
      nodes: [node('n1', { unschedulable: true, taints: [other] }), node('n2', { taints: [other, taint] }), node('n3')],
    }).map(({ path, body }) => [path, body]);
    expect(bodies).toEqual([
      ['/api/v1/nodes/n1', { metadata: { resourceVersion: '7' }, spec: { taints: [other, taint] } }],
      ['/api/v1/nodes/n2', { metadata: { resourceVersion: '7' }, spec: { taints: [other] } }],
    ]);
  });

  test('pods of a lost node are no longer ready, those of a node that is gone are removed', () => {
    const pods = [pod('a', { nodeName: 'lost' }), pod('b', { nodeName: 'gone' }), pod('c')];
    const requests = nodes({ ...EMPTY, nodes: [node('lost', { ready: false })], pods });
    expect(requests).toMatchObject([
      {
        method: 'PATCH',
        path: '/api/v1/namespaces/shop/pods/a/status',
        body: { status: { conditions: [{ status: 'False' }] } },
      },
      { method: 'DELETE', path: '/api/v1/namespaces/shop/pods/b', body: { gracePeriodSeconds: 0 } },
    ]);
  });
});
