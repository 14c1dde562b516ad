import { beforeEach, expect, test } from '@jest/globals';
import { VirtualClock } from '../../../sim/clock.ts';
import { followReadiness } from '../../../sim/world/readiness.ts';

const PROBE = { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 };

let clock: VirtualClock;
let answer: (signal: AbortSignal) => Promise<boolean>;
let told: (readonly [second: number, ready: boolean])[];

beforeEach(() => {
  clock = new VirtualClock();
  answer = async () => true;
  told = [];
});

function follow(signal = new AbortController().signal): Promise<void> {
  const changed = (ready: boolean): void => void told.push([clock.monotonic() / 1000, ready]);
  return followReadiness({ probe: PROBE, clock, ask: (asked) => answer(asked), changed }, signal);
}

test('three probes that fail in a row make a container unready, and one that succeeds makes it ready', async () => {
  void follow();
  answer = async () => false;
  await clock.advance(25_000);
  answer = async () => true;
  await clock.advance(10_000);
  answer = () => Promise.reject(new Error('refused'));
  await clock.advance(35_000);
  answer = async () => true;
  await clock.advance(100_000);
  expect(told).toEqual([
    [60, false],
    [80, true],
  ]);
});

test('a probe that is not answered in time has failed', async () => {
  void follow();
  answer = (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('late'))));
  await clock.advance(60_000);
  expect(told).toEqual([[45, false]]);
});

test('nobody is asked once the container is gone', async () => {
  const gone = new AbortController();
  const followed = follow(gone.signal);
  answer = async () => false;
  await clock.advance(25_000);
  gone.abort(new Error('gone'));
  await followed;
  await clock.advance(60_000);
  expect(told).toEqual([]);
});
