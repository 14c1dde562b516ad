import { beforeEach, describe, expect, test } from '@jest/globals';
import { FairLimiter, type Holding } from '../../runtime/lib/fair-limiter.ts';
import { settle } from '../../lab/sim/clock.ts';

let limiter: FairLimiter;
/** Names of the tasks that run, in the order in which they began. */
let running: string[];
/** By name of the task: ends it. */
let end: Record<string, () => void>;

beforeEach(() => {
  limiter = new FairLimiter({ max: 3, maxPerParty: 2, maxWaiting: 2, busy: () => new Error('full') });
  running = [];
  end = {};
});

/** Wants to run a task of the party that its name begins with. */
function want(name: string): Promise<void> {
  const [party = ''] = name;
  const wanted = limiter.run(party, async () => {
    running.push(name);
    await new Promise<void>((resolve) => (end[name] = resolve));
    running.splice(running.indexOf(name), 1);
  });
  wanted.catch(() => undefined);
  return wanted;
}

async function outcome(wanted: Promise<void>): Promise<string> {
  let now = 'pending';
  wanted.then(
    () => (now = 'done'),
    ({ message }: Error) => (now = message),
  );
  await settle();
  return now;
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
  expect(await outcome(want('a5'))).toBe('full');
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

describe('what is held', () => {
  let room: FairLimiter;
  let ended: string[];
  beforeEach(() => {
    room = new FairLimiter({ max: 100 });
    ended = [];
  });
  /** Held by the party that the name begins with. */
  const hold = (name: string, amount: number): Holding => {
    const holding = room.hold(name.slice(0, 1), () => void ended.push(name));
    holding.add(amount);
    return holding;
  };

  test('is never more than there is room for: the oldest of the party makes way, and the youngest has room', () => {
    const last = ['a1', 'a2', 'a3'].map((name) => hold(name, 33)).at(-1);
    expect(ended).toEqual([]);
    expect(last?.add(30)).toBe(true);
    expect(ended).toEqual(['a1']);
    expect(last?.add(36)).toBe(true);
    expect(ended).toEqual(['a1', 'a2']);
  });

  test('is taken from the party that holds the most, and from none for one that holds as much', () => {
    for (const name of ['a1', 'b1', 'b2', 'c1']) hold(name, 20);
    hold('d1', 35);
    expect(ended).toEqual(['b1']);
    hold('c2', 10);
    expect(ended).toEqual(['b1', 'd1']);
    const even = new FairLimiter({ max: 2 });
    for (const party of ['a', 'b']) even.hold(party, () => void ended.push(party)).add(1);
    expect(even.hold('c', () => undefined).add(1)).toBe(false);
    expect(ended).toEqual(['b1', 'd1']);
  });

  test('is given back once where it has to make way itself, or ends', () => {
    const [first, second] = [hold('a1', 60), hold('a2', 40)];
    expect(first.add(1)).toBe(false);
    expect(first.add(0)).toBe(false);
    first.release();
    expect(second.add(60)).toBe(true);
    second.release();
    second.release();
    hold('a3', 100);
    expect(ended).toEqual([]);
  });
});
