import { describe, expect, test } from '@jest/globals';
import type { NodeView, Snapshot } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { shadowName, STAGE_ANNOTATION, UPDATED_FROM_ANNOTATION } from '../../../runtime/api/shadow/names.ts';
import {
  fleet,
  MARKS,
  minutes,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  ruling,
  rebooting,
  type Rules,
  permit,
  staging,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';
import { ZONE } from './members.ts';

/** Whom a plan names what to prepare while it waits. */

/** At rest with 1.1.0 on offer, by an agent that prepares versions at rest. */
const able = (more: Parts = {}): Parts => ({ ...more, status: { staged: {}, ...more.status } });
const hinted = (since = NOW, version = '1.1.0', more: Parts = {}): Parts => able({ hint: { version, since }, ...more });
const preparedAhead = (since = NOW): Parts =>
  hinted(since, '1.1.0', { status: { staged: { version: '1.1.0', boot_id: 'boot-1' } } });
const atOnce = (count: number): Partial<Rules> => ({ ...UNPROVEN_TOO, maxConcurrent: { kind: 'count', count } });

/** `node version`, or `node -` where what it was named is taken back. */
function named(world: World, rules: Partial<Rules> = {}, now = NOW): readonly string[] {
  const { commands } = plan(world, { ...POLICY, ...rules }, now);
  return commands
    .flatMap((one) => (one.kind === 'set-hint' ? [`${one.shadow.slice('brs-'.length)} ${one.version ?? '-'}`] : []))
    .toSorted();
}

describe('named to prepare their update', () => {
  test('are the next ones to start, as many as may be updating at once, and no more', () => {
    const world = fleet({ a: able(), b: able(), c: able(), d: able(), e: able() });
    expect(named(world)).toEqual(['b 1.1.0']);
    expect(named(world, atOnce(2))).toEqual(['c 1.1.0', 'd 1.1.0']);
  });

  test('come those that somebody has asked for, then those with the fewest failures, then the oldest', () => {
    const nodes = [
      node('a'),
      node('b'),
      node('c', { createdAt: minutes(-30_000) }),
      node('d', { askedBy: 'somebody' }),
      node('e'),
    ];
    const parts = { a: rebooting, b: able(), c: able(), d: able(), e: able({ status: { crash_count: 1 } }) };
    const world = fleet(parts, { nodes, permits: [permit('a')] });
    const readAhead = (count: number): readonly string[] => named(world, { readAhead: { kind: 'count', count } });
    expect(readAhead(1)).toEqual(['d 1.1.0']);
    expect(readAhead(2)).toEqual(['c 1.1.0', 'd 1.1.0']);
    expect(readAhead(3)).toEqual(['b 1.1.0', 'c 1.1.0', 'd 1.1.0']);
    expect(readAhead(9)).toHaveLength(4);
  });

  test('start before the others once they have, whatever their age: an older node that was offered it later has yet to prepare it', () => {
    const nodes = [node('a', { createdAt: minutes(-30_000) }), node('b'), node('c')];
    const started = (parts: Record<string, Parts>): readonly string[] =>
      plan(fleet(parts, { nodes }), { ...POLICY, ...atOnce(1) }, NOW).commands.flatMap((one) =>
        one.kind === 'start' ? [one.node] : [],
      );
    expect(started({ a: able(), b: able(), c: able() })).toEqual(['a']);
    expect(started({ a: able(), b: able(), c: preparedAhead() })).toEqual(['c']);
    expect(started({ a: able(), b: hinted(), c: able() })).toEqual(['a']);
    const failed = { status: { staged: { version: '1.1.0', boot_id: 'boot-1' }, crash_count: 1 } };
    expect(started({ a: able(), b: able(), c: hinted(NOW, '1.1.0', failed) })).toEqual(['a']);
  });

  test('is the node that the controller runs on last of all', () => {
    const world = fleet({ a: able(), b: able(), c: able() });
    expect(named(world, { ownNode: 'b' })).toEqual(['c 1.1.0']);
  });

  test('is that node in its turn where somebody has asked for it, as it starts then', () => {
    const parts = { a: rebooting, b: able(), c: able() };
    const of = (its: Partial<NodeView>): World =>
      fleet(parts, { nodes: [node('a'), node('b', its), node('c')], permits: [permit('a')] });
    expect(named(of({}), { ownNode: 'b' })).toEqual(['c 1.1.0']);
    expect(named(of({ askedBy: 'somebody' }), { ownNode: 'b' })).toEqual(['b 1.1.0']);
  });

  test('are READ_AHEAD of them, under each policy and over all: none where it is 0, and what was named is taken back', () => {
    const under = (pool: string) => ({ labels: { pool } });
    const nodes = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => node(name, under(name < 'd' ? 'x' : 'y')));
    const policies = ['x', 'y'].map((pool) => ruling(pool, { selector: { matchLabels: { pool } } }));
    const world = fleet({ a: able(), b: able(), c: able(), d: able(), e: able(), f: able() }, { nodes, policies });
    const two: Partial<Rules> = { maxConcurrent: { kind: 'count', count: 2 } };
    expect(named(world, two)).toEqual(['b 1.1.0', 'e 1.1.0']);
    expect(named(world, { ...two, readAhead: { kind: 'count', count: 1 } })).toEqual(['b 1.1.0']);
    expect(named(world, { ...two, readAhead: { kind: 'unlimited' } })).toHaveLength(4);
    const none: Partial<Rules> = { readAhead: { kind: 'count', count: 0 } };
    expect(named(fleet({ a: able(), b: hinted(), c: able() }), none)).toEqual(['b -']);
  });

  test('are over all those of the policy whose nodes start first', () => {
    const under = (pool: string) => ({ labels: { pool } });
    const nodes = [node('a', under('x')), node('b', under('x')), node('c', under('y')), node('d', under('y'))];
    const policies = ['x', 'y'].map((pool, priority) =>
      ruling(pool, { priority, selector: { matchLabels: { pool } }, ...atOnce(1) }),
    );
    const world = fleet(
      { a: staging, b: able(), c: staging, d: able() },
      { nodes, policies, permits: ['a', 'c'].map((name) => permit(name)) },
    );
    expect(named(world, { ...atOnce(2), readAhead: { kind: 'count', count: 1 } })).toEqual(['d 1.1.0']);
  });

  test('is nobody whose agent prepares nothing at rest, or says nothing of it: the next one is', () => {
    expect(named(fleet({ a: able(), b: {}, c: able() }))).toEqual(['c 1.1.0']);
  });

  test.each<[string, World, Partial<Rules>]>([
    ['its release is to be proven first', fleet({ a: able(), b: able() }), { ...atOnce(2), proof: POLICY.proof }],
    [
      'another zone is worked on',
      fleet(
        { a: able(), b: able() },
        { nodes: [node('a', { labels: { [ZONE]: 'x' } }), node('b', { labels: { [ZONE]: 'y' } })] },
      ),
      { ...atOnce(2), zones: { key: ZONE, atOnce: 1 } },
    ],
    [
      'an update has just ended',
      fleet({ a: { ...updated, endedAt: NOW }, b: able() }),
      { ...atOnce(2), pauseBetweenMs: 600_000 },
    ],
    [
      'the API server refuses its start',
      fleet(
        { a: rebooting, b: able() },
        {
          permits: [permit('a')],
          refusals: new Map([[shadowName('b'), [{ kind: 'start', message: 'no', retryAt: minutes(1) }]]]),
        },
      ),
      atOnce(2),
    ],
  ])('is one that waits because %s', (_why, world, rules) => {
    expect(named(world, rules)).toEqual(['b 1.1.0']);
  });

  const policy = (says: Parameters<typeof ruling>[1]): Partial<World> => ({
    policies: [ruling('p', { selector: {}, ...says })],
  });
  const of = (b: Parts, more: Partial<World> = {}): World =>
    fleet({ a: rebooting, b }, { permits: [permit('a')], ...more });
  const withNode = (more: Partial<Snapshot['nodes'][number]>) => ({ nodes: [node('a'), node('b', more)] });
  test.each<[string, Partial<World>, Parts]>([
    ['it is held', withNode({ held: true }), {}],
    ['it is about to be removed', withNode({ leaving: true }), {}],
    ['it is not Ready', withNode({ ready: false }), {}],
    ['the namespace is paused', { paused: true }, {}],
    ['it is not known whether what is seen is current', { notCurrent: 'nothing is heard of the nodes' }, {}],
    ['its policy is paused', policy({ paused: true }), {}],
    ['its policy is frozen', policy({ freezes: [{ from: minutes(-1), to: minutes(1), reason: 'quarter' }] }), {}],
    ['its window is closed', policy({ window: { open: false, triggeredAt: undefined, changesAt: minutes(5) } }), {}],
    ['its policy waits for another', policy({ after: ['unknown'] }), {}],
    [
      'it pauses after a failure',
      {},
      { status: { crash_count: 3, state_transition_failure_timestamp: new Date(minutes(-1)).toISOString() } },
    ],
    ['its agent is gone', { silentSince: new Map([['b', minutes(-60)]]) }, {}],
    ['marks are left on it', withNode({ marks: MARKS }), {}],
    ['it is offered what it runs', {}, { status: { target_version: '1.0.0' } }],
  ])('is nobody where %s, and what it was named is taken back', (_why, more, parts) => {
    const before = hinted(NOW, '1.1.0', parts);
    expect(named(of({ ...before, hint: undefined }, more))).toEqual([]);
    expect(named(of(before, more))).toEqual(['b -']);
  });
});

describe('what a node was named', () => {
  test('stays with its node, even if others come before it by now', () => {
    const nodes = [node('a'), node('b'), node('c', { askedBy: 'somebody' }), node('d')];
    const world = fleet({ a: rebooting, b: able(), c: able(), d: hinted() }, { nodes, permits: [permit('a')] });
    expect(named(world)).toEqual([]);
  });

  test('changes with what it is offered', () => {
    const world = fleet({ a: rebooting, b: hinted(NOW, '1.0.5') }, { permits: [permit('a')] });
    expect(named(world)).toEqual(['b 1.1.0']);
  });

  test('is taken off by the write that begins its update, which says what it ran', () => {
    const { commands } = plan(fleet({ a: preparedAhead() }), POLICY, NOW);
    expect(commands.map(({ kind }) => kind)).toEqual(['start']);
    expect(commands[0]).toMatchObject({
      annotations: { [STAGE_ANNOTATION]: null, [UPDATED_FROM_ANNOTATION]: '1.0.0' },
    });
  });

  test('takes no place any more once it has shown nothing for three hours, at that moment, and stays', () => {
    const world = fleet({ a: rebooting, b: hinted(minutes(-179)), c: able() }, { permits: [permit('a')] });
    expect(plan(world, POLICY, NOW).requeueAt).toBe(minutes(1));
    expect(named(world, {}, minutes(1) - 1)).toEqual([]);
    expect(named(world, {}, minutes(1))).toEqual(['c 1.1.0']);
  });

  test('keeps its place for as long as it takes once it is staged', () => {
    const world = fleet({ a: rebooting, b: preparedAhead(minutes(-600)), c: able() }, { permits: [permit('a')] });
    expect(named(world)).toEqual([]);
  });

  test('counts as not staged after another boot', () => {
    const nodes = [node('a'), node('b', { bootId: 'boot-2' }), node('c')];
    const world = fleet(
      { a: rebooting, b: preparedAhead(minutes(-600)), c: able() },
      { nodes, permits: [permit('a')] },
    );
    expect(named(world)).toEqual(['c 1.1.0']);
  });

  test('is said in its verdict', () => {
    const world = fleet({ a: rebooting, b: preparedAhead(), c: hinted() }, { permits: [permit('a')] });
    const verdicts = plan(world, { ...POLICY, ...atOnce(1), readAhead: { kind: 'count', count: 2 } }, NOW).verdicts;
    expect(verdicts.map(({ ahead }) => ahead)).toEqual([
      undefined,
      { version: '1.1.0', isStaged: true },
      { version: '1.1.0', isStaged: false },
    ]);
  });
});
