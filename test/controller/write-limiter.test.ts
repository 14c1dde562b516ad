import { beforeEach, expect, test } from '@jest/globals';
import { CommandLimiters, WriteLimiter } from '../../runtime/controller/writing/write-limiter.ts';
import { apiStatusError, UnexpectedAnswerError, UnreachableError } from '../../runtime/kube/errors.ts';
import { momentOf } from '../../runtime/lib/clock.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';

const DENIED = apiStatusError('PATCH /x', { code: 403, reason: 'Forbidden', message: 'not on Fridays' });

let clock: VirtualClock;
let limiter: WriteLimiter;
const limiterOn = (options: { readonly restMs?: number; readonly clock?: VirtualClock } = {}) =>
  new WriteLimiter({ clock, random: () => 0.5, wanted: 'its label', ...options });
beforeEach(() => {
  clock = new VirtualClock();
  limiter = limiterOn();
});

test('pauses double up to five minutes, and begin anew once the write was taken', async () => {
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 11; attempt++) {
    limiter.refused('a', DENIED);
    pauses.push(limiter.restMs('a'));
    await clock.advance(pauses.at(-1) ?? 0);
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1000));
  limiter.taken('a');
  expect(limiter.restMs('a')).toBe(0);
  limiter.refused('a', DENIED);
  expect(limiter.restMs('a')).toBe(1000);
});

test('what is not asked for any more is forgotten', async () => {
  limiter.refused('a', DENIED);
  limiter.refused('a', DENIED);
  await clock.advance(303_000);
  expect(limiter.refusals(momentOf(clock)).size).toBe(0);
  limiter.refused('a', DENIED);
  expect(limiter.restMs('a')).toBe(1000);
});

test('the API server may ask for a longer pause, but not for one without end', () => {
  const busy = (retryAfterSeconds: number): Error =>
    apiStatusError('PATCH /x', { code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds } });
  limiter.refused('a', busy(40));
  limiter.refused('b', busy(86_400));
  expect([limiter.restMs('a'), limiter.restMs('b')]).toEqual([40_000, 300_000]);
});

test('a fleet that is refused takes turns, one a second, until one of it is taken again', () => {
  const limiters = new CommandLimiters({ clock, random: () => 0.5 });
  const bumps = limiters.of('bump');
  const names = Array.from({ length: 500 }, (_, index) => `n${index}`);
  for (let round = 0; round < 2; round++) for (const name of names) bumps.refused(name, DENIED);
  expect(bumps.restMs('n0')).toBe(500_000);
  limiters.of('adopt').refused('n0', DENIED);
  expect(limiters.of('adopt').restMs('n0')).toBe(1000);
  bumps.forget('n2');
  expect(bumps.restMs('n0')).toBe(500_000);
  bumps.taken('n1');
  expect(bumps.restMs('n0')).toBe(2000);
});

test('a busy API server, which has said nothing of a write, makes its pauses no longer', () => {
  for (let i = 0; i < 5; i++) limiter.refused('a', apiStatusError('x', { code: 429, reason: 'TooManyRequests' }));
  expect(limiter.restMs('a')).toBe(1000);
});

test('a clock that is set neither ends a pause nor makes it longer', () => {
  limiter.refused('a', DENIED);
  const { now, monotonic } = momentOf(clock);
  const set = { now: now - 3_600_000, monotonic };
  expect(limiter.refusals(set).get('a')!.retryAt - set.now).toBe(1000);
});

test('a command that found another state waits twice as long each time, ten seconds at most; for another version it does not wait', () => {
  const waits = Array.from({ length: 9 }, () => {
    limiter.moved('a');
    return limiter.restMs('a');
  });
  expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
  limiter.moved('b', 'v1');
  limiter.moved('b', 'v1');
  expect([limiter.restMs('b', 'v1'), limiter.restMs('b', 'v2')]).toEqual([200, 0]);
  limiter.moved('b', 'v2');
  expect(limiter.restMs('b', 'v2')).toBe(100);
  // What was refused as such is refused whatever it says.
  limiter.refused('b', DENIED);
  expect(limiter.restMs('b', 'v3')).toBe(1000);
});

test('a pace is kept by every version, whatever became of the one before, and without jitter', () => {
  limiter = new WriteLimiter({ clock, random: () => 0.9, wanted: 'its label', restMs: 5000 });
  limiter.taken('a');
  limiter.moved('b', 'v1');
  limiter.refused('c', DENIED);
  expect(['a', 'b', 'c'].map((item) => limiter.restMs(item, 'v2'))).toEqual([5000, 5000, 5000]);
});

test.each([
  ['a refusal', DENIED, 'its label is refused: 403 Forbidden: not on Fridays'],
  [
    'a webhook that fails',
    apiStatusError('PATCH /x', { code: 500, reason: 'InternalError', message: 'failed calling webhook' }),
    'its label fails: 500 InternalError: failed calling webhook',
  ],
  [
    "a proxy's page",
    new UnexpectedAnswerError('PATCH /x', { code: 403 }),
    'its label is answered with 403, and not by the API server',
  ],
  [
    'a server that is too busy to look at it',
    apiStatusError('PATCH /x', { code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } }),
    'its label is put off: the API server is too busy (429)',
  ],
  ['silence', new UnreachableError('PATCH /x: ETIMEDOUT'), 'its label is not answered'],
])('%s is said in the same words each time', (_name, error, message) => {
  const limiters = new CommandLimiters({ clock, random: () => 0.5 });
  limiters.of('adopt').refused('brs-a', error);
  expect(limiters.refusals(momentOf(clock)).get('brs-a')).toMatchObject([{ kind: 'adopt', message }]);
});
