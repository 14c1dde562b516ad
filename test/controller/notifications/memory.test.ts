import { describe, expect, test } from '@jest/globals';
import { byTopic, type Statement } from '../../../runtime/controller/telling/statements.ts';
import { type Memory, newsIn, NOTHING } from '../../../runtime/controller/telling/notifications/memory.ts';
import { read, written } from '../../../runtime/controller/telling/notifications/stored.ts';
import { type Fact, joined } from '../../../runtime/api/notifications/fact.ts';

/** Data of a ConfigMap, as the API server takes it at most. */
const MEBIBYTE = 1024 * 1024;
const NODES = 10_000;

const moment = { uid: 'u', now: 0 };
const uid = (index: number): string => `5f1c0e8d-7a3b-4c2d-9e8f-${String(index).padStart(12, '0')}`;
const regarding = { apiVersion: 'v1', kind: 'Node', name: 'n' };

function statement(kind: 'agent' | 'release', of: string, reason: string): Statement {
  const about = kind === 'agent' ? { node: of } : { version: of };
  const event = { regarding, type: 'Warning', reason, message: reason } as const;
  return { kind, of, value: 'x', event, isRecorded: true, isRepeated: true, about };
}

const missing = Array.from({ length: NODES }, (_, index) => statement('agent', uid(index), 'AgentMissing'));

function fact(index: number, message = 'm'): Fact {
  return {
    id: String(index).padStart(32, '0'),
    kind: 'UpdateFailed',
    severity: 'warning',
    time: '2026-01-01T00:00:00Z',
    message,
  };
}

const backAgain = (memory: Partial<Memory>): Memory => read(written({ ...NOTHING, ...memory }));

describe('of more nodes than can be remembered', () => {
  const first = newsIn(byTopic(missing), new Map(), moment);

  test('as many are told as are remembered, each once, and a plan that brings nothing new changes nothing', () => {
    const { facts, told } = newsIn(byTopic(missing), first.told, moment);
    expect(first.facts.length).toBe(first.told.size);
    expect(first.facts.length).toBeGreaterThan(1000);
    expect(facts).toEqual([]);
    expect(told).toBe(first.told);
  });

  test('what is said of the fleet is told all the same', () => {
    const halted = statement('release', '1.1.0', 'RolloutHalted');
    const { facts, told } = newsIn(byTopic([...missing, halted]), first.told, moment);
    expect(facts.map(({ kind }) => kind)).toEqual(['RolloutHalted']);
    expect(newsIn(byTopic([...missing, halted]), told, moment).facts).toEqual([]);
  });
});

test('the memory of 10,000 nodes, 50 targets and two Alertmanagers fits into a ConfigMap', () => {
  const { told } = newsIn(byTopic(missing), new Map(), moment);
  // Control characters take six bytes each.
  const facts = Array.from({ length: 200 }, (_, index) => fact(index, '\u0001'.repeat(1024)));
  const waiting = new Map(Array.from({ length: 50 }, (_, index) => [`target-${index}`, facts] as const));
  const nodes = missing.map(({ of }) => [of, { id: uid(1), endsAt: Date.UTC(2026, 0) }] as const);
  const silences = new Map(['a', 'b'].map((name) => [name, new Map(nodes)] as const));
  expect(Buffer.byteLength(written({ told, waiting, silences }))).toBeLessThan(MEBIBYTE);
});

test('what waits is remembered in its order, and the newest where not all fits', () => {
  const [old, next] = [fact(1), { ...fact(2), time: '2026-01-01T00:00:01Z' }];
  const both = new Map([['a', [old, next]]]);
  expect(backAgain({ waiting: both }).waiting).toEqual(both);
  const long = Array.from({ length: 200 }, (_, index) => ({
    ...fact(index, '"'.repeat(1024)),
    time: `2026-01-01T00:${String(Math.floor(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}Z`,
  }));
  const kept = backAgain({ waiting: new Map([['a', long]]) }).waiting.get('a') ?? [];
  expect(kept.length).toBeGreaterThan(50);
  expect(kept).toEqual(long.slice(-kept.length));
});

test('where not all that waits fits, what is said of nodes is forgotten first', () => {
  const nodes = Array.from({ length: 300 }, (_, index) => ({ ...fact(index + 1, '"'.repeat(1024)), node: 'a' }));
  const halted = { ...fact(0), time: '2025-01-01T00:00:00Z' };
  const kept = backAgain({ waiting: new Map([['a', [halted, ...nodes]]]) }).waiting.get('a') ?? [];
  expect(kept.length).toBeLessThan(300);
  expect(kept[0]).toEqual(halted);
});

test('facts that are told as one come back as one', () => {
  const one = joined({ ...fact(1), node: 'a' }, { ...fact(2), node: 'b' });
  const waiting = new Map([['x', one ? [one] : []]]);
  expect(backAgain({ waiting }).waiting).toEqual(waiting);
});

describe('a memory that somebody has edited', () => {
  test.each<[string, object]>([
    ['topics', { told: { 'release 1.1.0': 5 } }],
    ['facts', { facts: [null, { id: 1 }], waiting: { a: ['1'] } }],
    ['lists', { waiting: { a: 'b' } }],
    ['silences', { silences: { a: { u: null } } }],
    // It becomes a part of an address.
    ['ids of silences', { silences: { a: { u: { id: '../../-/reload', endsAt: 1 } } } }],
  ])('is no memory where its %s are none', (_what, edited) => {
    const memory = read(JSON.stringify({ told: {}, facts: [], waiting: {}, ...edited }));
    const halted = byTopic([statement('release', '1.1.0', 'RolloutHalted')]);
    expect(() => newsIn(halted, memory.told, moment)).not.toThrow();
    expect([...memory.waiting.values()].flat()).toEqual([]);
    expect([...memory.silences.values()].every((made) => made.size === 0)).toBe(true);
  });

  test('keeps what can be read of it, so that nothing is told again for a fact of another version', () => {
    const told = new Map([['release 1.1.0', ['x', 1]]] as const);
    const text = written({ ...NOTHING, told, waiting: new Map([['a', [fact(1)]]]) });
    const edited = JSON.parse(text) as { facts: object[]; more: string };
    edited.facts.unshift({ ...fact(2), kind: 'Foreseen' });
    edited.more = 'x';
    expect(read(JSON.stringify(edited))).toMatchObject({ told, waiting: new Map([['a', [fact(1)]]]) });
  });
});
