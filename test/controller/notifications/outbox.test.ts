import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { CAPACITY, GIVE_UP_MS, LASTING_MS, Outbox } from '../../../runtime/controller/telling/notifications/outbox.ts';
import type { DeliveryOutcome } from '../../../runtime/controller/telling/notifications/outcome.ts';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { silentLogger } from '../../../runtime/lib/log.ts';
import type { Fact } from '../../../runtime/api/notifications/fact.ts';
import { VirtualClock } from '../../../lab/sim/clock.ts';

let clock: VirtualClock;
let outbox: Outbox;
let stop: AbortController;
let running: Promise<void>;
/** Ids, each time that they were tried, with the second. */
let tried: string[];
let ended: string[];
let outcome: (fact: Fact) => DeliveryOutcome | Promise<DeliveryOutcome>;

const OK: DeliveryOutcome = { kind: 'accepted', status: 200 };
const later = (afterMs = 0): DeliveryOutcome => ({ kind: 'later', why: 'it answers 500', afterMs });
const fact = (id: string, more: Partial<Fact> = {}): Fact => ({
  id,
  kind: 'RolloutHalted',
  severity: 'warning',
  time: rfc3339(clock.now()),
  message: '',
  ...more,
});
const ofNode = (node: string): Fact => fact(node, { kind: 'AgentMissing', node });
const seconds = (): number => Math.round(clock.monotonic() / 1000);

beforeEach(() => {
  clock = new VirtualClock();
  [tried, ended, outcome] = [[], [], () => OK];
  stop = new AbortController();
  const metrics = {
    ended: (_: string, result: string): void => void ended.push(result),
    waiting: (): void => undefined,
    failing: (): void => undefined,
  };
  const deliver = async (one: Fact): Promise<DeliveryOutcome> => {
    tried.push(`${one.id} ${seconds()}`);
    return outcome(one);
  };
  const parts = { clock, random: () => 0.5, logger: silentLogger, metrics, onChange: () => undefined };
  outbox = new Outbox({ ...parts, target: 'a', deliver }, []);
  running = outbox.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await clock.advance(0);
  await running;
});

test('facts are told in order, each before the next is tried, and a growing pause lies between tries', async () => {
  outcome = () => later();
  for (const id of ['1', '2']) outbox.add(fact(id));
  await clock.advance(7000);
  outcome = () => OK;
  await clock.advance(8000);
  expect(tried).toEqual(['1 0', '1 1', '1 3', '1 7', '1 15', '2 15']);
  expect(ended).toEqual(['sent', 'sent']);
});

test('a server that says when is not asked before', async () => {
  outcome = () => later(60_000);
  outbox.add(fact('1'));
  await clock.advance(61_000);
  expect(tried).toEqual(['1 0', '1 60']);
});

test('what is refused for good is tried once, and those behind it are told', async () => {
  outcome = ({ id }) => (id === '1' ? { kind: 'refused', why: 'it answers 404' } : OK);
  for (const id of ['1', '2']) outbox.add(fact(id));
  await clock.advance(1000);
  expect([tried, ended]).toEqual([
    ['1 0', '2 0'],
    ['failed', 'sent'],
  ]);
});

test.each([
  ['hours', GIVE_UP_MS, 'node'],
  ['days', LASTING_MS, undefined],
] as const)(
  'a target that is out for %s is told of all that is not too old, and nothing is tried for ever',
  async (_, ms, node) => {
    outcome = () => later();
    outbox.add(fact('old', node && { node }));
    await clock.advance(ms - 1000);
    outbox.add(fact('new'));
    await clock.advance(600_000);
    expect([ended, outbox.waiting.map(({ id }) => id)]).toEqual([['failed'], ['new']]);
    outcome = () => OK;
    await clock.advance(600_000);
    expect(ended).toEqual(['failed', 'sent']);
  },
);

test('a target that hangs keeps so many, and the oldest makes room, also the one that is under way', async () => {
  const { promise, resolve } = Promise.withResolvers<DeliveryOutcome>();
  outcome = () => promise;
  for (let id = 0; id < CAPACITY + 2; id++) outbox.add(fact(String(id)));
  await clock.advance(0);
  for (let id = 0; id < 2; id++) outbox.add(fact(`late-${id}`));
  const [first] = outbox.waiting;
  expect([outbox.waiting.length, first?.id, ended]).toEqual([
    CAPACITY,
    '4',
    ['dropped', 'dropped', 'dropped', 'dropped'],
  ]);
  outcome = () => OK;
  resolve(OK);
  await clock.advance(1000);
  expect(outbox.waiting).toEqual([]);
  expect(ended.filter((result) => result === 'sent')).toHaveLength(CAPACITY);
});

test('what is the same of several nodes is told as one, but for what the target may have got already', async () => {
  outcome = () => later();
  outbox.add(ofNode('first'));
  await clock.advance(0);
  for (let node = 0; node < 1000; node++) outbox.add(ofNode(`node-${node}`));
  outbox.add(fact('failed', { kind: 'UpdateFailed', node: 'node-0' }));
  expect(outbox.waiting.map(({ kind, node, together }) => [kind, node, together?.count])).toEqual([
    ['AgentMissing', 'first', undefined],
    ['AgentMissing', undefined, 1000],
    ['UpdateFailed', 'node-0', undefined],
  ]);
  outcome = () => OK;
  await clock.advance(600_000);
  expect(ended).toEqual(['sent', 'sent', 'sent']);
});

test('in a long outage, what is said of nodes goes before what is said of the fleet, of releases and of policies', async () => {
  const { promise, resolve } = Promise.withResolvers<DeliveryOutcome>();
  outcome = () => promise;
  outbox.add(fact('halted'));
  for (let id = 0; id < CAPACITY * 2; id++) outbox.add(fact(`v${id}`, { node: 'a', version: `${id}` }));
  outbox.add(fact('resumed'));
  const ids = outbox.waiting.map(({ id }) => id);
  resolve(OK);
  await clock.advance(1000);
  expect([ids.length, ids[0], ids.at(-1)]).toEqual([CAPACITY, 'halted', 'resumed']);
});
