import { beforeEach, expect, test } from '@jest/globals';
import { FairLimiter } from '../../runtime/apiserver/fair-limiter.ts';
import { settle } from '../../sim/clock.ts';
import { outcome, started } from './world.ts';

let limiter: FairLimiter;
/** Names of the tasks that run, in the order in which they began. */
let running: string[];
/** By name of the task: ends it. */
let end: Record<string, () => void>;

beforeEach(() => {
  limiter = new FairLimiter({ max: 3, maxPerParty: 2, maxWaiting: 2, busy: 'full' });
  running = [];
  end = {};
});

/** Wants to run a task of the party that its name begins with. */
function want(name: string): Promise<void> {
  const [party = ''] = name;
  return started(
    limiter.run(party, async () => {
      running.push(name);
      await new Promise<void>((resolve) => (end[name] = resolve));
      running.splice(running.indexOf(name), 1);
    }),
  );
}

async function endOf(name: string): Promise<void> {
  end[name]?.();
  await settle();
}

test('no more tasks run than may, and no more of one party than of one may', async () => {
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void want(name);
  await settle();
  expect(running).toEqual(['a1', 'a2', 'b1']);
});

test('parties take turns, however many tasks one of them has', async () => {
  for (const name of ['a1', 'a2', 'b1', 'a3', 'a4', 'b2', 'c1']) void want(name);
  await settle();
  const began = [...running];
  for (const name of ['a1', 'a2', 'b1']) {
    await endOf(name);
    began.push(running.at(-1) ?? '');
  }
  expect(began).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'c1']);
});

test('who has too many waiting is asked to come again, and others are not', async () => {
  for (const name of ['a1', 'a2', 'a3', 'a4']) void want(name);
  expect(await outcome(want('a5'))).toBe('503 Busy');
  expect(await outcome(want('b1'))).toBe('pending');
  expect(running).toEqual(['a1', 'a2', 'b1']);
  await endOf('a1');
  expect(await outcome(want('a6'))).toBe('pending');
});

test('a task that fails gives its place to the next', async () => {
  await expect(limiter.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  for (const name of ['a1', 'a2', 'b1']) void want(name);
  await settle();
  expect(running).toHaveLength(3);
});
