import { beforeEach, expect, test } from '@jest/globals';
import { Expectations } from '../../runtime/controller/seeing/expectations.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';

const view = (resourceVersion: string) => ({ name: 'brs-a', resourceVersion });

let clock: VirtualClock;
let expectations: Expectations;
beforeEach(() => {
  clock = new VirtualClock();
  expectations = new Expectations({ clock });
  expectations.written('brs-a', '20');
});

test('a view from before our write is stale, whatever it says; one from after it is not', () => {
  expect(expectations.isStale(view('19'))).toBe(true);
  expect(expectations.isStale(view('20'))).toBe(false);
  expect(expectations.isStale(view('21'))).toBe(false);
  expect(expectations.isStale({ name: 'brs-b', resourceVersion: '1' })).toBe(false);
});

test('a shadow that the cache does not show yet is not forgotten', () => {
  expectations.seen([]);
  expect(expectations.isStale(view('10'))).toBe(true);
});

test('nor one that was made anew under its name and is not shown yet', () => {
  expectations.seen([view('20')]);
  expectations.written('brs-a', '30');
  expectations.seen([]);
  expect(expectations.isStale(view('25'))).toBe(true);
});

test('an older write whose acknowledgement comes late takes nothing back', () => {
  expectations.written('brs-a', '19');
  expect(expectations.isStale(view('19'))).toBe(true);
});

test('a list that was asked for after the acknowledgement shows the write by any version, and an earlier one by none', async () => {
  const before = clock.monotonic();
  await clock.advance(1);
  expectations.listed(before);
  expect(expectations.isStale(view('3'))).toBe(true);
  expectations.listed(clock.monotonic());
  expect(expectations.isStale(view('3'))).toBe(false);
});

test('an older acknowledgement waits for a list of its own: its version may be of a counter that was set back', async () => {
  await clock.advance(1);
  const askedAt = clock.monotonic();
  await clock.advance(1);
  expectations.written('brs-a', '4');
  expectations.listed(askedAt);
  expect(expectations.isStale(view('3'))).toBe(true);
});
