import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ARRIVING_KEY } from '../../../runtime/api/marks/taints.ts';
import { taintSign } from '../../../runtime/api/policy/signs.ts';
import { shadowName } from '../../../runtime/api/shadow/names.ts';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { runs } from '../../random.ts';
import {
  fleet,
  ledgerObject,
  minutes,
  node,
  NOW,
  type Parts,
  permit,
  plan,
  POLICY,
  reasons,
  type Rules,
  staging,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';
import { FAMILY, failed, withLedger } from './kept.ts';
import { ZONE } from './members.ts';
import { amount, windows } from './worlds.ts';

const NAMES = Array.from({ length: 12 }, (_, index) => `n${index + 10}`);

/** What sets one of many apart; nothing with most. */
const WHAT = [
  'is on its way',
  'has failed on it',
  'is refused',
  'was called off',
  'is newly ruled',
  'has just joined',
  'was updated of late',
  'takes long',
  'was offered it late',
  'is locked',
  'is ordered it',
  'is ordered another',
] as const;
type Own = (typeof WHAT)[number] | undefined;

const own: fc.Arbitrary<Own> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom(...WHAT) },
);

const PARTS: Readonly<Partial<Record<NonNullable<Own>, Parts>>> = {
  'is on its way': staging,
  'was updated of late': { finishedAt: minutes(-5) },
  'takes long': { lastUpdateMs: 3_600_000 },
  'was offered it late': { offeredAt: minutes(-1) },
  'is locked': { status: { version_wish: { ours: { version_lock: '1.0.0' }, before: {} } } },
  'is ordered it': { order: { version: '1.1.0', stop: undefined, annotations: {} } },
  'is ordered another': { order: { version: '1.2.0', stop: undefined, annotations: {} } },
};

function nodeOf(name: string, what: Own, zone: string): NodeView {
  const joins = what === 'has just joined' && { createdAt: minutes(-1), signs: [taintSign(ARRIVING_KEY)] };
  return node(name, { labels: { [ZONE]: zone }, ...joins });
}

const world: fc.Arbitrary<World> = fc
  .record({
    owns: fc.tuple(...NAMES.map(() => own)),
    zones: fc.tuple(...NAMES.map(() => fc.constantFrom('z0', 'z1'))),
    window: windows,
  })
  .map(({ owns, zones, window }) => {
    const are = (what: Own): readonly string[] => NAMES.filter((_, at) => owns[at] === what);
    const parts = NAMES.map(
      (name, at) => [name, { lastUpdateMs: 60_000, ...PARTS[owns[at] ?? 'is refused'] }] as const,
    );
    const refusal = { kind: 'start', message: 'is refused', retryAt: minutes(1) } as const;
    const more = {
      nodes: NAMES.map((name, at) => nodeOf(name, owns[at], zones[at] ?? '')),
      permits: are('is on its way').map((name) => permit(name)),
      window,
      refusals: new Map(are('is refused').map((name) => [shadowName(name), [refusal]])),
      drainRefusals: new Map(
        are('was called off').map((name) => [shadowName(name), { kind: 'called-off', retryAt: minutes(1) } as const]),
      ),
      ruledSince: new Map(are('is newly ruled').map((name) => [`uid-${name}`, NOW - 1000])),
    };
    return withLedger(fleet(Object.fromEntries(parts), more), { failures: failed(...are('has failed on it')) });
  });

const rules: fc.Arbitrary<Rules> = fc
  .record({
    maxConcurrent: amount,
    maxFailed: amount,
    ownNode: fc.constantFrom('n12', 'none'),
    minIntervalMs: fc.constantFrom(undefined, 600_000),
    mustFit: fc.boolean(),
    zones: fc.constantFrom(1, Infinity).map((atOnce) => ({ key: ZONE, atOnce })),
    proof: fc.record({ nodes: amount, soakMs: fc.constant(0), per: fc.constantFrom(undefined, ZONE) }),
  })
  .map((drawn) => Object.assign({}, POLICY, drawn));

/** A sign that no policy minds makes each node one of a kind. */
const apart = (one: World): World => ({
  ...one,
  nodes: one.nodes.map((each) => ({ ...each, signs: [...(each.signs ?? []), `of ${each.name} alone`] })),
});

test('nodes that are alike are decided on as if each were asked by itself', () => {
  fc.assert(
    fc.property(world, rules, (one, says) => {
      expect(plan(one, says, NOW)).toEqual(plan(apart(one), says, NOW));
    }),
    runs(100),
  );
});

test('a node whose start is refused says so where others keep all of its kind', () => {
  const refusals = new Map([
    [shadowName('b'), [{ kind: 'start', message: 'is refused', retryAt: minutes(1) }] as const],
  ]);
  const one = fleet({ a: {}, b: {}, c: staging }, { permits: [permit('c')], refusals });
  const says = { ...POLICY, proof: { nodes: { kind: 'count', count: 1 }, soakMs: 0 } } as const;
  expect(reasons(one, says)).toEqual({ a: 'Unproven', b: 'WriteRefused', c: 'Updating' });
});

describe('of two nodes that differ in nothing else, each has its own verdict by', () => {
  const { version } = POLICY;
  const all = { maxConcurrent: { kind: 'unlimited' }, maxFailed: { kind: 'unlimited' } } as const;
  const down = (more: Parts = {}): Parts => ({ ...more, status: { current_version: '1.2.0' } });
  const left = ledgerObject({ family: FAMILY, version: '1.2.0' });
  const pools = [
    ['a', 'y'],
    ['b', 'x'],
    ['c', 'x'],
    ['d', 'y'],
  ] as const;

  test.each<[string, World, Partial<Rules>, Record<string, string>]>([
    [
      'what it runs',
      fleet({ a: {}, b: down() }),
      { ...UNPROVEN_TOO, ...all, version: { ...version, minAgeMs: 60_000 } },
      { a: 'TooYoung', b: 'Updating' },
    ],
    [
      'what it is offered',
      fleet({ a: {}, b: { status: { target_version: '1.2.0' } } }),
      { ...UNPROVEN_TOO, ...all, version: { ...version, max: '1.1.0' } },
      { a: 'Updating', b: 'VersionPinned' },
    ],
    [
      'what it ran before, where that is its way back',
      fleet(
        { a: down(), b: down({ updatedFrom: '1.1.0' }), c: staging },
        {
          permits: [permit('c')],
          releases: { objects: [{ ...left, rollbackFor: ['*'] }], refused: new Map(), seeds: false },
        },
      ),
      all,
      { a: 'Unproven', b: 'Updating', c: 'Updating' },
    ],
    [
      'the label that its policy has releases proven per',
      fleet(
        { a: {}, b: {}, c: { ...updated, finishedAt: minutes(-90) }, d: staging },
        { nodes: pools.map(([name, pool]) => node(name, { labels: { pool } })), permits: [permit('d')] },
      ),
      { ...all, proof: { ...POLICY.proof, soakMs: 0, per: 'pool' } },
      { a: 'Unproven', b: 'Updating', c: 'UpToDate', d: 'Updating' },
    ],
  ])('%s', (_, one, says, expected) => {
    expect(reasons(one, says)).toEqual(expected);
  });

  test('a wish that stands on its shadow', () => {
    const one = fleet({ a: {}, b: { spec: { version_wish: { version_lock: '1.1.0' } } } });
    const wishes = plan(one, { ...POLICY, maxConcurrent: { kind: 'count', count: 0 } }, NOW).commands;
    expect(wishes.flatMap((command) => (command.kind === 'set-wish' ? command.shadow : []))).toEqual(['brs-b']);
  });
});
