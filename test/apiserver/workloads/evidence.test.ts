import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { type Compared, whyWorse } from '../../../runtime/apiserver/workloads/evidence.ts';
import { type Witness, witnessOf } from '../../../runtime/apiserver/workloads/pods.ts';
import type { Pod } from '../../../runtime/kube/objects.ts';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { runs } from '../../random.ts';

/** Which pods tell something of a release, and when that is clear enough: a false halt is worse than one that comes from a person. */

const NOW = Date.parse('2026-01-01T12:00:00Z');
const MINUTE = 60_000;
const ago = (minutes: number): string => rfc3339(NOW - minutes * MINUTE);

interface Parts {
  readonly age?: number;
  readonly ready?: boolean | null;
  readonly since?: number;
  readonly waiting?: string;
  readonly restarts?: number;
  readonly owner?: string | null;
}

const ownersOf = (kind: string | null): readonly object[] | null =>
  kind === null ? null : [{ apiVersion: 'apps/v1', kind, name: 'cni', uid: 'o', controller: true }];

const DEFAULTS = { age: 60, ready: true, since: undefined, restarts: 0, owner: 'DaemonSet' };

function pod(parts: Parts = {}, more: object = {}): Pod {
  const { waiting } = parts;
  const { age, ready, since, restarts, owner } = { ...DEFAULTS, ...parts };
  const state = waiting === undefined ? { running: null } : { waiting: { reason: waiting, message: null } };
  const condition = { type: 'Ready', status: ready === true ? 'True' : 'False', lastTransitionTime: ago(since ?? age) };
  return {
    metadata: {
      name: 'cni-1',
      namespace: 'kube-system',
      uid: 'u',
      resourceVersion: '1',
      labels: { app: 'cni', 'controller-revision-hash': 'a', 'apps.kubernetes.io/pod-index': '3' },
      creationTimestamp: ago(age),
      ownerReferences: ownersOf(owner),
      managedFields: null,
    },
    spec: { nodeName: 'n1' },
    status: {
      phase: 'Running',
      conditions: ready === null ? null : [condition],
      containerStatuses: [{ name: 'c', state, restartCount: restarts }],
      initContainerStatuses: null,
    },
    ...more,
  } as unknown as Pod;
}

const health = (parts: Parts, more?: object): Witness['health'] => witnessOf(pod(parts, more), NOW)!.health;

test.each<[string, Parts, Witness['health']]>([
  ['is Ready', {}, 'well'],
  ['is younger than five minutes', { age: 4, ready: false, waiting: 'ImagePullBackOff' }, undefined],
  ['is not Ready for less than five minutes', { ready: false, since: 4 }, undefined],
  ['is not Ready for five', { ready: false, since: 5 }, 'unready'],
  ['crashes again and again, Ready in between or not', { waiting: 'CrashLoopBackOff', restarts: 3 }, 'crash'],
  ['has crashed once, and is Ready', { waiting: 'CrashLoopBackOff', restarts: 1 }, 'well'],
  ['does not get its image', { ready: false, since: 6, waiting: 'ImagePullBackOff' }, 'image'],
  ['does not get as far as its containers', { ready: false, since: 6, waiting: 'ContainerCreating' }, 'sandbox'],
  ['has no conditions yet, from its making on', { ready: null, age: 6 }, 'unready'],
])('a pod that %s', (_, parts, expected) => {
  expect(health(parts)).toBe(expected);
});

test('pods of Jobs and of nobody, static ones, those that end and those that are over tell nothing', () => {
  const gone = pod();
  expect(
    [
      pod({ owner: 'Job' }),
      pod({ owner: 'Node' }),
      pod({ owner: null }),
      { ...gone, metadata: { ...gone.metadata, deletionTimestamp: ago(1) } },
      { ...gone, status: { phase: 'Succeeded' } },
      { ...gone, spec: {} },
    ].map((one) => witnessOf(one, NOW)),
  ).toEqual(Array.from({ length: 6 }));
  expect(health({}, { status: null })).toBe('sandbox');
});

test('peers are those of the same revision, and not of the same place in a StatefulSet', () => {
  expect(witnessOf(pod(), NOW)!.labels).toEqual({ app: 'cni', 'controller-revision-hash': 'a' });
});

const witness = (state: Witness['health'], createdAt = NOW - 60 * MINUTE): Witness => ({
  ...witnessOf(pod(), NOW)!,
  health: state,
  createdAt,
  unreadySince: state === 'well' ? undefined : NOW - 10 * MINUTE,
});
const many = (count: number, state: Witness['health'], createdAt?: number): readonly Witness[] =>
  Array.from({ length: count }, () => witness(state, createdAt));
const judge = (parts: Partial<Compared>): string | undefined =>
  whyWorse({ here: [], updated: [], elsewhere: [], ...parts });

describe('pods are clearly worse', () => {
  test('where they ail here and not elsewhere, in words that name them and the numbers', () => {
    expect(judge({ here: many(1, 'sandbox'), updated: many(1, 'sandbox'), elsewhere: many(8, 'well') })).toBe(
      '2 of 2 pods of DaemonSet kube-system/cni do not get as far as their containers on nodes of this version, 0 of 8 elsewhere',
    );
  });

  test.each<[string, Partial<Compared>]>([
    ['nobody ails', { here: many(3, 'well'), elsewhere: many(3, 'well') }],
    ['a single replica has no peer', { here: many(1, 'crash') }],
    ['one peer alone is elsewhere', { here: many(1, 'crash'), elsewhere: many(1, 'well') }],
    ['all elsewhere are too young to tell', { here: many(1, 'crash'), elsewhere: many(9, undefined) }],
    ['they crash everywhere', { here: many(2, 'crash'), elsewhere: many(6, 'crash') }],
    ['some always ail', { here: many(1, 'unready'), elsewhere: [...many(8, 'well'), ...many(1, 'unready')] }],
    ['most are well here', { here: [...many(2, 'well'), ...many(2, 'crash')], elsewhere: many(9, 'well') }],
    [
      'it is this machine: others of its version are well',
      { here: many(1, 'sandbox'), updated: many(1, 'well'), elsewhere: many(9, 'well') },
    ],
    [
      'the image is away, and those elsewhere have had it before',
      { here: many(1, 'image'), elsewhere: many(9, 'well') },
    ],
  ])('not where %s', (_, parts) => {
    expect(judge(parts)).toBeUndefined();
  });

  test('where the image cannot be had here, and was had elsewhere since', () => {
    expect(judge({ here: many(1, 'image'), elsewhere: many(2, 'well', NOW - 6 * MINUTE) })).toMatch(
      'cannot have their image',
    );
  });

  test('never where what ails is drawn alike for all nodes of the same ten (found: a limit that counts pods, and no share)', () => {
    const any = fc.constantFrom<Witness['health']>('well', 'crash', 'unready', undefined);
    fc.assert(
      fc.property(
        fc.array(any, { maxLength: 5 }),
        fc.array(any, { maxLength: 5 }),
        fc.nat(20),
        (here, updated, wells) => {
          const elsewhere = [...many(wells, 'well'), ...many(Math.floor(wells / 9) + 1, 'crash')];
          const all = { here: here.map((one) => witness(one)), updated: updated.map((one) => witness(one)) };
          expect(whyWorse({ ...all, elsewhere })).toBeUndefined();
        },
      ),
      runs(100),
    );
  });

  test('no less for more that ail here, nor for more that are well elsewhere', () => {
    const counts = fc.record({ sick: fc.nat(6), well: fc.nat(6), others: fc.nat(30), ailing: fc.nat(5) });
    fc.assert(
      fc.property(counts, ({ sick, well, others, ailing }) => {
        const at = (more: number, elsewhere: number): string | undefined =>
          judge({
            here: [...many(sick + more, 'crash'), ...many(well, 'well')],
            elsewhere: [...many(others + elsewhere, 'well'), ...many(ailing, 'crash')],
          });
        if (at(0, 0) !== undefined) expect([at(1, 0), at(0, 1), at(1, 1)]).not.toContain(undefined);
      }),
      runs(100),
    );
  });
});
