import { expect, test } from '@jest/globals';
import { fleet, minutes, NOW, type Parts, plan, POLICY, reasons, ruling, staging, started, updated } from './fleet.ts';

/** A release that is proven goes to more nodes at once as more of them run it well. */

const SOAK = 300_000;
const rules = {
  maxConcurrent: { kind: 'unlimited' },
  proof: { nodes: { kind: 'count', count: 1 }, soakMs: SOAK, widen: 2 },
} as const;
const well: Parts = { ...updated, upToDateSince: minutes(-6) };
const soaking: Parts = { ...updated, upToDateSince: minutes(-2) };
const behind = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, {}]));

test.each<[string, Readonly<Record<string, Parts>>, number]>([
  ['none runs it: one proves it', {}, 1],
  ['one has proven it: two', { a: well }, 2],
  ['one still soaks: it does not count', { a: well, b: soaking }, 2],
  ['two are well: four', { a: well, b: well }, 4],
  ['those on their way take their places', { a: well, b: well, c: staging }, 3],
])('%s', (_what, ahead, starts) => {
  expect(started(fleet({ ...ahead, ...behind(12) }), rules)).toHaveLength(starts);
});

test('it is a limit besides the budget, and there is none where nobody asks for it', () => {
  const world = fleet({ a: well, b: well, ...behind(12) });
  expect(started(world, { ...rules, maxConcurrent: { kind: 'count', count: 3 } })).toHaveLength(3);
  expect(started(world, { ...rules, proof: { ...rules.proof, widen: undefined } })).toHaveLength(12);
});

test('a proven release whose nodes are all gone goes to as many as prove it, or it would stand still for ever', () => {
  const [release] = plan(fleet({ a: well, ...behind(1) }), { ...POLICY, ...rules }, NOW).ledger;
  const objects = [
    { ...release!, uid: 'r', resourceVersion: '1', decision: 'Automatic', ledger: release!.ledger! },
  ] as const;
  const world = fleet(behind(5));
  expect(started({ ...world, releases: { ...world.releases, objects } }, rules)).toEqual(['n0']);
});

test('who waits is told how many go at once, and until when; the plan is made again then', () => {
  const { verdicts, requeueAt } = plan(fleet({ a: well, b: soaking, ...behind(4) }), { ...POLICY, ...rules }, NOW);
  expect(verdicts.at(-1)).toMatchObject({
    reason: 'Widening',
    message: '1.1.0 goes to 2 at once, and to more as more nodes run it well',
    until: minutes(3),
  });
  expect(requeueAt).toBe(minutes(3));
});

test('a node that has staged it waits with its permit while nodes that ran it well are gone', () => {
  const staged: Parts = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } };
  const world = fleet({ a: well, b: staged, c: staged, d: staged });
  const { commands, verdicts } = plan(world, { ...POLICY, ...rules }, NOW);
  const disturbed = commands.flatMap((one) => (one.kind === 'set-spec' ? [one.shadow] : []));
  expect(disturbed).toEqual(['brs-b', 'brs-c']);
  expect(verdicts[3]).toMatchObject({ reason: 'Widening' });
});

test('each policy widens by its own nodes', () => {
  const policies = [ruling('p', { ...rules, selector: { matchLabels: { pool: 'p' } } })];
  const world = fleet({ a: well, ...behind(4) }, { policies });
  const nodes = world.nodes.map((one) => ({ ...one, labels: one.name === 'a' ? {} : { pool: 'p' } }));
  expect(Object.values(reasons({ ...world, nodes })).filter((reason) => reason === 'Unproven')).toHaveLength(3);
});
