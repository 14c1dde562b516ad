import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { type Candidate, candidateOf, matches, needsOf, type PodNeeds } from '../../runtime/drain/needs.ts';
import { drainPod } from '../../runtime/drain/pod.ts';
import { type Amounts, requestsOf } from '../../runtime/drain/requests.ts';
import { amountOf } from '../../runtime/lib/resource-quantity.ts';
import { freeOn, lackOf, offered, roomFor } from '../../runtime/drain/room.ts';
import type { Node, Pod } from '../../runtime/kube/objects.ts';
import { runs } from '../random.ts';

/** A guess of what the scheduler will do with the pods of a drain: a lack is said only where it is one. */

const GIB = 2 ** 30;

const pod = (name: string, spec: object, more: object = {}): Pod =>
  ({
    metadata: {
      name,
      namespace: 'shop',
      uid: name,
      resourceVersion: '1',
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r', controller: true }],
      managedFields: null,
      ...more,
    },
    spec: { tolerations: null, initContainers: null, nodeSelector: null, affinity: null, ...spec },
    status: { phase: 'Running' },
  }) as unknown as Pod;
const asking = (requests: object): object => ({ containers: [{ name: 'c', resources: { requests, limits: null } }] });
const node = (name: string, allocatable: object, more: object = {}): Candidate =>
  candidateOf({
    metadata: { name, uid: name, resourceVersion: '1', labels: null },
    status: { allocatable, conditions: [{ type: 'Ready', status: 'True' }] },
    ...more,
  } as unknown as Node)!;

test.each([
  ['250m', 0.25],
  ['1', 1],
  ['.5', 0.5],
  ['1e3', 1000],
  ['1.5Gi', 1.5 * GIB],
  ['128974848', 128_974_848],
  ['129M', 129e6],
  ['12E', 12e18],
  ['100n', 1e-7],
  [2, 2],
  [null, 0],
  ['much', 0],
])('the quantity %j is %j', (quantity, amount) => {
  expect(amountOf(quantity)).toBeCloseTo(amount, 9);
});

describe('a pod asks for', () => {
  const container = (cpu: string, more: object = {}): object => ({
    name: cpu,
    resources: { requests: { cpu } },
    ...more,
  });

  test.each([
    ['its containers together', { containers: [container('1'), container('2')] }, 3],
    [
      'its largest init container, where that asks for more',
      { containers: [container('1')], initContainers: [container('4'), container('2')] },
      4,
    ],
    [
      'its sidecars beside its containers, and beside the init containers after them',
      {
        containers: [container('1')],
        initContainers: [
          container('3', { restartPolicy: 'Always' }),
          container('2'),
          container('1', { restartPolicy: 'Always' }),
        ],
      },
      5,
    ],
    [
      'an init container that runs before a sidecar without that one',
      { containers: [], initContainers: [container('4'), container('3', { restartPolicy: 'Always' })] },
      4,
    ],
    ['its overhead besides', { containers: [container('1')], overhead: { cpu: '250m' } }, 1.25],
    [
      'what the whole pod states in place of its containers',
      { containers: [container('1')], resources: { requests: { cpu: '2' } } },
      2,
    ],
    ['nothing, where it says nothing', { containers: [{ name: 'c', resources: null }] }, undefined],
  ])('%s', (_, spec, cpu) => {
    expect(requestsOf(pod('p', spec))['cpu']).toBe(cpu);
  });
});

describe('a pod goes only where', () => {
  const needs = (spec: object): PodNeeds => needsOf(pod('p', { ...asking({ cpu: '1' }), ...spec }))!;
  const affinity = (...nodeSelectorTerms: readonly object[]): object => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  });
  const inPool = (operator: string, ...values: readonly string[]): object => ({ key: 'size', operator, values });
  const here = node('n', {}, { metadata: { name: 'n', labels: { pool: 'db', size: '4' } } });
  const taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' };

  test.each<[string, object, object, boolean]>([
    ['its selector says', { nodeSelector: { pool: 'db' } }, {}, true],
    ['its selector says, and nowhere else', { nodeSelector: { pool: 'web' } }, {}, false],
    [
      'one of its terms holds',
      affinity({ matchExpressions: [inPool('In', '5')] }, { matchExpressions: [inPool('Gt', '3')] }),
      {},
      true,
    ],
    ['all of a term holds', affinity({ matchExpressions: [inPool('Exists'), inPool('Lt', '4')] }), {}, false],
    ['a term says anything at all', affinity({ matchExpressions: null, matchFields: null }), {}, false],
    [
      'its node is named',
      affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }),
      {},
      true,
    ],
    ['what is new to us is taken to hold', affinity({ matchExpressions: [inPool('Resembles', '5')] }), {}, true],
    ['no taint keeps it away', {}, { taints: [taint] }, false],
    [
      'it tolerates the taints',
      { tolerations: [{ key: 'gpu', value: 'yes', effect: null }] },
      { taints: [taint] },
      true,
    ],
    ['it tolerates everything', { tolerations: [{ operator: 'Exists' }] }, { taints: [taint] }, true],
    ['the taint is a wish', {}, { taints: [{ ...taint, effect: 'PreferNoSchedule' }] }, true],
  ])('%s', (_, spec, more, expected) => {
    const there = { ...here, ...node('n', {}, { spec: more }), labels: here.labels };
    expect(matches(needs(spec), there)).toBe(expected);
  });

  test.each([
    ['is cordoned', { spec: { unschedulable: true } }],
    ['is not Ready', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }],
    ['has no status yet', { status: null }],
    ['is being deleted', { metadata: { name: 'n', deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ])('no node %s', (_, more) => {
    expect(node('n', {}, more)).toBeUndefined();
  });
});

const lackIn = (
  pods: readonly Pod[],
  nodes: readonly (readonly [Candidate, readonly Amounts[]])[],
): string | undefined =>
  lackOf(
    nodes.reduce(
      (room, [candidate, taken]) => offered(room, candidate, freeOn(candidate, taken)),
      roomFor(pods.map(drainPod)),
    ),
  );

describe('a drain lacks', () => {
  const big = (name: string, cpu: string): Pod => pod(name, asking({ cpu, memory: '1Gi' }));
  const small = node('small', { cpu: '4', memory: '16Gi', pods: '110' });

  test('what is asked for and nowhere free, as numbers', () => {
    expect(
      lackIn(
        [big('a', '9'), big('b', '5')],
        [
          [small, []],
          [node('c', { cpu: '5500m', memory: '8Gi' }), [{ cpu: 0.5 }]],
        ],
      ),
    ).toBe('14 CPU needed, 9 free');
    expect(lackIn([pod('g', asking({ 'nvidia.com/gpu': '2' }))], [[small, []]])).toBe(
      '2 nvidia.com/gpu needed, 0 free',
    );
  });

  test('a node that is large enough, where all that is free would do', () => {
    const two = node('two', { cpu: '4', memory: '16Gi' });
    expect(
      lackIn(
        [big('a', '6')],
        [
          [small, []],
          [two, []],
        ],
      ),
    ).toBe('shop/a needs 6 CPU, 1 GiB of memory on one node, where at most 4 CPU, 16 GiB of memory is free');
  });

  test('nothing for pods that nothing makes anew, that are ending, or that ask for nothing', () => {
    const alone = pod('alone', asking({ cpu: '9' }), { ownerReferences: null });
    const ending = pod('ending', asking({ cpu: '9' }), { deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(lackIn([alone, ending, pod('nothing', { containers: [{ name: 'c' }] })], [])).toBeUndefined();
  });

  test('a place, where a node takes no more pods', () => {
    const full = node('full', { cpu: '4', memory: '16Gi', pods: '2' });
    expect(lackIn([big('a', '1')], [[full, [{}, {}]]])).toMatch('shop/a needs 1 CPU');
    expect(lackIn([big('a', '1')], [[full, [{}]]])).toBeUndefined();
  });

  test('nothing where a node is filled to the last of its CPU: tenths of it are no exact numbers', () => {
    const nearly = node('nearly', { cpu: '300m', memory: '16Gi' });
    const taken = [{ cpu: 0.1 }, { cpu: 0.1 }];
    expect(lackIn([big('a', '100m')], [[nearly, taken]])).toBeUndefined();
    expect(lackIn([big('a', '101m')], [[nearly, taken]])).toBe('0.101 CPU needed, 0.1 free');
  });

  test('nothing of what its pods ask none of, though a node has given out more of it than it has', () => {
    const given = node('given', { cpu: '4', memory: '16Gi', 'example.com/disk': '1' });
    const taken = [{ cpu: 5, 'example.com/disk': 2 }];
    const idle = pod('idle', asking({ cpu: '0', 'example.com/disk': '0', memory: '1Gi' }));
    expect(lackIn([idle], [[given, taken]])).toBeUndefined();
  });

  test('something only where a pod could have no node to itself, and nothing only where all of it is free somewhere', () => {
    const cpus = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(cpus, cpus, (sizes, there) => {
        const pods = sizes.map((cpu, at) => big(`p${at}`, String(cpu)));
        const nodes = there.map((cpu, at) => [node(`n${at}`, { cpu: String(cpu), memory: '64Gi' }), []] as const);
        const lack = lackIn(pods, nodes);
        const hasOwn = sizes
          .toSorted((x, y) => y - x)
          .every((cpu, at) => cpu <= (there.toSorted((x, y) => y - x)[at] ?? 0));
        const sum = (all: readonly number[]): number => all.reduce((x, y) => x + y, 0);
        if (hasOwn) expect(lack).toBeUndefined();
        if (sum(sizes) > sum(there)) expect(lack).toBe(`${sum(sizes)} CPU needed, ${sum(there)} free`);
      }),
      runs(100),
    );
  });
});
