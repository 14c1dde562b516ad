import { expect, test } from '@jest/globals';
import type { Command } from '../../../runtime/controller/plan/facts/commands.ts';
import type { WriteRefusal } from '../../../runtime/controller/plan/facts/snapshot.ts';
import {
  fleet,
  MARKS,
  minutes,
  node,
  NOW,
  plan,
  POLICY,
  rebooting,
  permit,
  staging,
  updated,
  type World,
} from './fleet.ts';

const MESSAGE = 'is refused: 403 Forbidden: not on Fridays';
const refusal = (kind: Command['kind'], retryAt = minutes(1)): WriteRefusal => ({ kind, message: MESSAGE, retryAt });
const refusing = (snapshot: World, ...refusals: readonly WriteRefusal[]): World => ({
  ...snapshot,
  refusals: new Map([['brs-a', refusals]]),
});
const asked = (snapshot: World, now = NOW, rules = POLICY): readonly string[] =>
  plan(snapshot, rules, now).commands.map((command) => {
    const { kind } = command;
    return `${kind} ${'shadow' in command ? command.shadow : command.node}`;
  });
const verdictOn = (snapshot: World): object => plan(snapshot, POLICY, NOW).verdicts[0]!;

test('a start that was not taken gives its permit back, and its place to the next', () => {
  const snapshot = fleet({ a: {}, b: {} }, { permits: [permit('a')] });
  expect(asked(refusing(snapshot, refusal('start')))).toEqual(['free brs-a']);
  expect(asked({ ...refusing(snapshot, refusal('start')), permits: [] })).toEqual(['start brs-b']);
});

test('one whose outcome is unknown is settled first, and keeps its permit for as long as that is not taken either', () => {
  const snapshot = fleet({ a: {}, b: {} }, { permits: [permit('a', 'unknown')] });
  expect(asked(refusing(snapshot, refusal('start')))).toEqual(['bump brs-a']);
  expect(asked(refusing(snapshot, refusal('start'), refusal('bump')))).toEqual([]);
});

test('a step of an update that was not taken leaves its permit where it is, and the others to go on', () => {
  const staged = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } } as const;
  const snapshot = fleet({ a: staged, b: staged, c: updated }, { permits: [permit('a'), permit('b')] });
  const rules = { ...POLICY, maxConcurrent: { kind: 'count', count: 2 } } as const;
  expect(asked(refusing(snapshot, refusal('set-spec')), NOW, rules)).toEqual(['set-spec brs-b']);
});

test.each<[Command['kind'], World]>([
  ['start', fleet({ a: {} })],
  ['set-spec', fleet({ a: { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } } })],
  ['release', fleet({ a: {} }, { nodes: [node('a', { marks: MARKS })] })],
  ['disown', fleet({ a: rebooting }, { nodes: [node('a', { marks: MARKS, unschedulable: false })] })],
])('%s: said by the verdict, asked for again when its pause is over, and not before', (kind, snapshot) => {
  const before = asked(snapshot);
  expect(before.some((command) => command.startsWith(kind))).toBe(true);
  const refused = refusing(snapshot, refusal(kind));
  expect(asked(refused, minutes(1) - 1)).toEqual(before.filter((command) => !command.startsWith(kind)));
  expect(verdictOn(refused)).toMatchObject({ reason: 'WriteRefused', message: MESSAGE });
  expect(plan(refused, POLICY, NOW).requeueAt).toBe(minutes(1));
  expect(asked(refused, minutes(1))).toEqual(before);
});

test('what was refused and is not wanted any more is not spoken of', () => {
  const paused = { ...refusing(fleet({ a: {} }), refusal('start')), paused: true };
  expect(verdictOn(paused)).toMatchObject({ reason: 'Paused' });
  expect(plan(paused, POLICY, NOW).requeueAt).toBeUndefined();
});

test('a node in trouble keeps its verdict, and says besides what is refused', () => {
  const silentSince = new Map([['a', minutes(-15)]]);
  const lost = refusing(fleet({ a: staging }, { silentSince }), refusal('rescue'));
  expect(verdictOn(lost)).toMatchObject({
    reason: 'AgentSilent',
    message: `no container of the agent runs on the node; ${MESSAGE}`,
  });
});

test('fifty nodes whose label is refused keep no other from getting its own', () => {
  const nodes = Array.from({ length: 60 }, (_, index) => node(`n${10 + index}`, { managed: false, joinable: true }));
  const refusals = new Map(nodes.slice(0, 50).map(({ shadowName }) => [shadowName, [refusal('adopt')]]));
  const { commands, requeueAt } = plan({ ...fleet({}), nodes, refusals }, { ...POLICY, labelNodes: true }, NOW);
  const adopted = commands.flatMap((command) => (command.kind === 'adopt' ? [command.node] : []));
  expect(adopted).toEqual(nodes.slice(50).map(({ name }) => name));
  expect(requeueAt).toBe(minutes(1));
});
