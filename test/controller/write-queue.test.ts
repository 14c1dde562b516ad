import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Write, WriteQueue } from '../../runtime/controller/writing/write-queue.ts';
import { apiStatusError } from '../../runtime/kube/errors.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';

let clock: VirtualClock;
let queue: WriteQueue;
let stop: AbortController;
let ended: Promise<void>;
let told: number;
/** What has begun, in order, each with what ends it. */
let begun: { readonly item: string; readonly end: (made?: string) => void; readonly fail: (error: Error) => void }[];

beforeEach(() => {
  clock = new VirtualClock();
  stop = new AbortController();
  begun = [];
  told = 0;
  start();
});

function start(quietMs = 0): void {
  const options = { clock, random: () => 0.5, logger: silentLogger, what: 'its label', atOnce: 2, quietMs };
  queue = new WriteQueue({ ...options, onRefusals: () => (told += 1) });
  ended = queue.run(stop.signal);
}
afterEach(async () => {
  stop.abort();
  for (const { end } of begun) end();
  await clock.advance(0);
  await ended;
});

/** Items that begin with the same letter are about one thing; the number is the version of the view. */
function writeOf(item: string): Write {
  const write = (): Promise<string | undefined> => {
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    begun.push({ item, end: resolve, fail: reject });
    return promise;
  };
  return { key: item.slice(0, 1), seen: item.slice(1), write };
}

async function wanted(...items: readonly string[]): Promise<readonly string[]> {
  queue.replace(items.map(writeOf));
  await clock.advance(0);
  return begun.map(({ item }) => item);
}

const error = (code: number): Error => apiStatusError('PATCH /x', { code, reason: 'No', message: 'no' });

test('what is about the same thing begins once the one before is done, and then only what is wanted last', async () => {
  expect(await wanted('a1')).toEqual(['a1']);
  await wanted('a2');
  expect(await wanted('a3', 'b1')).toEqual(['a1', 'b1']);
  begun[0]?.end('2');
  await clock.advance(0);
  expect(begun.map(({ item }) => item)).toEqual(['a1', 'b1', 'a3']);
});

test('where as many hang as may be under way, all others wait', async () => {
  expect(await wanted('a1', 'b1', 'c1')).toEqual(['a1', 'b1']);
  begun[1]?.end('2');
  await clock.advance(0);
  expect(begun.map(({ item }) => item)).toEqual(['a1', 'b1', 'c1']);
});

test('what somebody else is at work on is written once it has been left alone for a while, however often it is planned', async () => {
  start(1000);
  await wanted('a1');
  await clock.advance(600);
  await wanted('a2', 'b1');
  await clock.advance(600);
  expect(await wanted('a2', 'b2')).toEqual([]);
  await clock.advance(400);
  expect(begun.map(({ item }) => item)).toEqual(['a2']);
  await clock.advance(600);
  expect(begun.map(({ item }) => item)).toEqual(['a2', 'b2']);
});

test('a view from before the last write is not acted on, and a later one is at once', async () => {
  await wanted('a1');
  await wanted('a1', 'a2');
  begun[0]?.end('5');
  await clock.advance(0);
  expect(await wanted('a4')).toEqual(['a1']);
  expect(await wanted('a5')).toEqual(['a1', 'a5']);
});

test('a write that found another state waits for a new view, or ever longer; one that was refused waits in any case', async () => {
  await wanted('a1', 'b1');
  begun[0]?.fail(error(409));
  begun[1]?.fail(error(403));
  await clock.advance(0);
  expect(await wanted('a1', 'b2')).toEqual(['a1', 'b1']);
  expect(await wanted('a2', 'b2')).toEqual(['a1', 'b1', 'a2']);
  await clock.advance(1000);
  expect(begun.map(({ item }) => item)).toEqual(['a1', 'b1', 'a2', 'b2']);
});

test('a refused write is known with its last error until it is taken or no longer wanted, and either rings', async () => {
  await wanted('a1', 'b1');
  for (const one of begun) one.fail(error(403));
  await clock.advance(0);
  const message = 'its label is refused: 403 No: no';
  expect([...queue.refused]).toEqual([
    ['a', message],
    ['b', message],
  ]);
  expect(told).toBe(2);
  await wanted('a1');
  expect([...queue.refused.keys()]).toEqual(['a']);
  await clock.advance(1000);
  begun[2]?.end('2');
  await clock.advance(0);
  expect(queue.refused.size).toBe(0);
  expect(told).toBe(4);
});

test('a write that was in vain is tried again though no plan is made, unless the newest one does not want it', async () => {
  await wanted('a1');
  begun[0]?.fail(error(403));
  await clock.advance(1000);
  expect(begun.map(({ item }) => item)).toEqual(['a1', 'a1']);
  await wanted();
  begun[1]?.fail(error(403));
  await clock.advance(10_000);
  expect(begun).toHaveLength(2);
});

test('a definition that drops what is written counts as refused', async () => {
  await wanted('a1');
  begun[0]?.end('1');
  await clock.advance(0);
  expect([...queue.refused.keys()]).toEqual(['a']);
});
