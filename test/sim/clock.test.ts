import { expect, test } from '@jest/globals';
import { VirtualClock } from '../../sim/clock.ts';

test('sleepers wake in order of their moments, each after the work of the one before', async () => {
  const clock = new VirtualClock(0);
  const seen: string[] = [];
  const sleeper = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms);
    seen.push(`${name}@${clock.now()}`);
  };
  const chain = sleeper('a', 10).then(() => sleeper('b', 5));
  const other = sleeper('c', 12);
  await clock.advance(14);
  expect(seen).toEqual(['a@10', 'c@12']);
  await clock.advance(1);
  expect(seen).toEqual(['a@10', 'c@12', 'b@15']);
  await Promise.all([chain, other]);
});

test('a sleep ends with the reason of its signal', async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const sleep = clock.sleep(1000, stop.signal);
  stop.abort(new Error('enough'));
  await expect(sleep).rejects.toThrow('enough');
  await expect(clock.sleep(1, stop.signal)).rejects.toThrow('enough');
});

test('advanceUntil stops at the moment of the result, and says when there is none', async () => {
  const clock = new VirtualClock(0);
  expect(
    await clock.advanceUntil(
      clock.sleep(70).then(() => 'done'),
      100,
    ),
  ).toBe('done');
  expect(clock.now()).toBe(70);
  await expect(clock.advanceUntil(new Promise(() => {}), 100)).rejects.toThrow('not settled after 100 ms');
});

test('work that goes round without letting time pass is ended', async () => {
  const clock = new VirtualClock();
  const life = AbortSignal.abort(new Error('over'));
  const goRound = async (): Promise<never> => {
    for (;;) await clock.sleep(1, life).catch((error: Error) => error.message === 'over' || Promise.reject(error));
  };
  await expect(goRound()).rejects.toThrow('without time');
});
