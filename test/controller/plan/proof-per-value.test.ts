import { expect, test } from '@jest/globals';
import { ARRIVING_KEY } from '../../../runtime/api/marks/taints.ts';
import type { ReleaseView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { ledgerObject } from './fleet.ts';
import {
  fleet,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  plan,
  POLICY,
  ruling,
  started,
  updated,
  type World,
} from './fleet.ts';

/** A release that boots on one type of machine may not on another: nodes of each value of a label prove it for themselves. */

const TYPE = 'node.kubernetes.io/instance-type';
const SOAK = 300_000;
const rules = {
  maxConcurrent: { kind: 'unlimited' },
  maxFailed: { kind: 'unlimited' },
  proof: { nodes: { kind: 'count', count: 1 }, soakMs: SOAK, per: TYPE },
} as const;
const well: Parts = { ...updated, upToDateSince: minutes(-6) };
const failed: Parts = {
  status: { crash_count: 1, failed_versions: ['1.1.0'], state_transition_failure_timestamp: moment(0) },
};

/** Nodes whose names begin with their type: `a1`, `b2`; of `-` nodes have no such label. */
function typed(parts: Readonly<Record<string, Parts>>, more: Partial<World> = {}): World {
  const nodes = Object.keys(parts).map((name) =>
    node(name, name.startsWith('-') ? {} : { labels: { [TYPE]: name[0]! } }),
  );
  return fleet(parts, { nodes, ...more });
}

const waiting = { a1: {}, a2: {}, b1: {}, b2: {}, c1: {}, c2: {} };

test('until nodes of one value have proven it, as many start as prove it in all', () => {
  expect(started(typed(waiting), rules)).toEqual(['a1']);
});

test('then nodes of that value go on, and of each other value as many start as prove it there', () => {
  expect(started(typed({ ...waiting, a1: well }), rules)).toEqual(['a2', 'b1', 'c1']);
  expect(started(typed({ ...waiting, a1: well, b1: well, '-1': {}, '-2': {} }), rules)).toEqual([
    '-1',
    'a2',
    'b2',
    'c1',
  ]);
});

test('nodes that fail on other values count for all that is not proven: together they are two more than prove it', () => {
  expect(started(typed({ ...waiting, a1: well, b1: failed, c1: failed, d1: {}, e1: {} }), rules)).toEqual(['a2', 'b2']);
  expect(started(typed({ ...waiting, a1: well, b1: failed, b2: failed, c1: failed }), rules)).toEqual([]);
});

test('a node that waits is told for which machines the release is unproven', () => {
  const soaking: Parts = { ...updated, upToDateSince: minutes(-2) };
  const { verdicts } = plan(
    typed({ ...waiting, a1: well, b1: soaking, '-1': {}, '-2': {} }),
    { ...POLICY, ...rules },
    NOW,
  );
  const of = (name: string) => verdicts.find((one) => one.node === name);
  expect(of('b2')).toMatchObject({
    reason: 'Unproven',
    message: `1.1.0 is yet to be proven by b1 where ${TYPE} is b`,
    until: minutes(3),
  });
  expect(of('-2')).toMatchObject({ message: `1.1.0 is yet to be proven by -1 where ${TYPE} is absent` });
});

/** What the plan writes to the ledger of 1.1.0. */
function written(world: World, policy = rules as Partial<typeof POLICY>): ReleaseView {
  const one = plan(world, { ...POLICY, ...policy }, NOW).ledger.find(({ version }) => version === '1.1.0')!;
  return ledgerObject(one, one.ledger);
}
const under = (release: ReleaseView) => release.ledger.policies[''];
const knowing = (world: World, release: ReleaseView): World => ({
  ...world,
  releases: { ...world.releases, objects: [release], seeds: false },
});

test('values that have proven it are remembered though their nodes are gone, and it is proven once all have', () => {
  const first = written(typed({ ...waiting, a1: well }));
  expect(under(first)?.provenAt).toBeUndefined();
  expect(under(first)).toMatchObject({ provenFor: { values: ['a'] } });
  expect(started(knowing(typed(waiting), first), rules)).toEqual(['a1', 'a2', 'b1', 'c1']);
  const all = written(knowing(typed({ a2: {}, b1: well, c1: well }), first));
  expect(under(all)).toMatchObject({ provenFor: { values: ['a', 'b', 'c'] }, provenAt: moment(0) });
  // A type of machine that joins later has to prove it all the same.
  expect(started(knowing(typed({ a2: {}, d1: {}, d2: {} }), all), rules)).toEqual(['a2', 'd1']);
});

test('what is for proven releases alone goes by the proof of the own value', () => {
  const policies = [ruling('', { ...rules, selector: {}, prefersUpdated: true })];
  const first = written(typed({ ...waiting, a1: well }));
  const world = knowing(typed({ a1: well, a2: {}, a3: {}, b1: {}, b2: {} }, { policies }), first);
  const joined = { createdAt: minutes(-2), signs: [`taint ${ARRIVING_KEY}`] };
  const nodes = world.nodes.map((one) => (one.name.endsWith('2') ? { ...one, ...joined } : one));
  expect(started({ ...world, nodes }, rules).toSorted()).toEqual(['a2', 'a3', 'b1']);
  expect(plan(world, { ...POLICY, ...rules }, NOW).preferences.map((one) => one.node)).toEqual(['a2', 'a3']);
});

test('what an older controller has dropped, and what was proven by another label, has to be proven again', () => {
  const known = written(typed({ ...waiting, a1: well }));
  const { provenFor: _, ...dropped } = under(known)!;
  const older = { ...known, ledger: { ...known.ledger, policies: { '': { ...dropped, provenAt: moment(-9) } } } };
  expect(started(knowing(typed(waiting), older), rules)).toEqual(['a1']);
  const other = { ...rules, proof: { ...rules.proof, per: 'example.com/pool' } };
  expect(started(knowing(typed(waiting), known), other)).toEqual(['a1']);
});

test('no more values are remembered than the resource takes, and the others go by their nodes', () => {
  const values = Array.from({ length: 70 }, (_, at) => `v${at + 10}`);
  const nodes = values.flatMap((value) => [
    node(`${value}-1`, { labels: { [TYPE]: value } }),
    node(`${value}-2`, { labels: { [TYPE]: value } }),
  ]);
  const parts = Object.fromEntries(
    values.flatMap((value) => [
      [`${value}-1`, well],
      [`${value}-2`, {}],
    ]),
  );
  const world = fleet(parts, { nodes });
  const known = written(world);
  expect(under(known)?.provenFor?.values).toHaveLength(64);
  expect(started(knowing(world, known), rules)).toHaveLength(70);
});

test('a policy whose nodes all have no such label goes by one proof, as without it', () => {
  const policies = [ruling('p', { ...rules, selector: {} })];
  expect(started(typed({ '-1': {}, '-2': {} }, { policies }), rules)).toEqual(['-1']);
  expect(started(typed({ '-1': well, '-2': {}, '-3': {} }, { policies }), rules)).toEqual(['-2', '-3']);
});

test('a label that every object has by its name is absent where a node does not bear it', () => {
  const oddly = { ...rules, zones: { key: 'constructor', atOnce: 1 }, proof: { ...rules.proof, per: 'constructor' } };
  const world = fleet({ a: well, b: {} });
  const { commands } = plan(world, { ...POLICY, ...oddly }, NOW);
  expect(commands).toMatchObject([{ kind: 'start', node: 'b', zone: undefined }]);
  expect(under(written(world, oddly))?.provenFor?.values).toEqual(['']);
});
