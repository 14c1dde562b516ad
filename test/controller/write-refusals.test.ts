import { beforeEach, expect, test } from '@jest/globals';
import type { Command } from '../../runtime/controller/plan/commands.ts';
import { WriteRefusals } from '../../runtime/controller/write-refusals.ts';
import { apiStatusError, UnexpectedAnswerError, UnreachableError } from '../../runtime/kube/errors.ts';
import { momentOf } from '../../runtime/lib/clock.ts';
import { VirtualClock } from '../../sim/clock.ts';

const DENIED = apiStatusError('PATCH /x', { code: 403, reason: 'Forbidden', message: 'not on Fridays' });
const bump = (name: string): Command => ({ kind: 'bump', shadow: `brs-${name}`, nodeUid: name });
const adopt = (node: string): Command => ({ kind: 'adopt', node });

let clock: VirtualClock;
let refusals: WriteRefusals;
beforeEach(() => {
  clock = new VirtualClock();
  refusals = new WriteRefusals({ clock, random: () => 0.5 });
});

const pauseOf = (name: string): number | undefined => {
  const [refusal] = refusals.view(momentOf(clock)).get(`brs-${name}`) ?? [];
  return refusal && refusal.retryAt - clock.now();
};

test('pauses double up to five minutes, and begin anew once the command was taken', async () => {
  const pauses: (number | undefined)[] = [];
  for (let attempt = 0; attempt < 11; attempt++) {
    refusals.add(bump('a'), DENIED);
    pauses.push(pauseOf('a'));
    await clock.advance(pauses.at(-1) ?? 0);
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1000));
  refusals.delete(bump('a'));
  expect(pauseOf('a')).toBeUndefined();
  refusals.add(bump('a'), DENIED);
  expect(pauseOf('a')).toBe(1000);
});

test('what is not asked for any more is forgotten', async () => {
  refusals.add(bump('a'), DENIED);
  refusals.add(bump('a'), DENIED);
  await clock.advance(303_000);
  expect(refusals.view(momentOf(clock)).size).toBe(0);
  refusals.add(bump('a'), DENIED);
  expect(pauseOf('a')).toBe(1000);
});

test('the API server may ask for a longer pause, but not for one without end', () => {
  const busy = (retryAfterSeconds: number): Error =>
    apiStatusError('PATCH /x', { code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds } });
  refusals.add(bump('a'), busy(40));
  refusals.add(bump('b'), busy(86_400));
  expect([pauseOf('a'), pauseOf('b')]).toEqual([40_000, 300_000]);
});

test('a fleet that is refused takes turns, one a second, until one of it is taken again', () => {
  const names = Array.from({ length: 500 }, (_, index) => `n${index}`);
  for (let round = 0; round < 2; round++) for (const name of names) refusals.add(bump(name), DENIED);
  expect(pauseOf('n0')).toBe(500_000);
  refusals.add(adopt('other'), DENIED);
  expect(pauseOf('other')).toBe(1000);
  refusals.delete(bump('n1'));
  expect(pauseOf('n0')).toBe(2000);
});

test('a busy API server, which has said nothing of a command, makes its pauses no longer', () => {
  for (let i = 0; i < 5; i++) refusals.add(bump('n0'), apiStatusError('x', { code: 429, reason: 'TooManyRequests' }));
  expect(pauseOf('n0')).toBe(1000);
});

test('a clock that is set neither ends a pause nor makes it longer', () => {
  let jumpedMs = 0;
  const set = { now: () => clock.now() + jumpedMs, monotonic: () => clock.monotonic(), sleep: clock.sleep.bind(clock) };
  refusals = new WriteRefusals({ clock: set, random: () => 0.5 });
  refusals.add(bump('a'), DENIED);
  jumpedMs = -3_600_000;
  const [refusal] = refusals.view(momentOf(set)).get('brs-a')!;
  expect(refusal!.retryAt - set.now()).toBe(1000);
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
  refusals.add(adopt('a'), error);
  expect(refusals.view(momentOf(clock)).get('brs-a')).toMatchObject([{ kind: 'adopt', message }]);
});
