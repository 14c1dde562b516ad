import { beforeEach, expect, test } from '@jest/globals';
import { Expectations } from '../../runtime/controller/expectations.ts';

const view = (resourceVersion: string) => ({ name: 'brs-a', resourceVersion });

let expectations: Expectations;
beforeEach(() => {
  expectations = new Expectations();
  expectations.written('brs-a', '20');
});

test('a view from before our write is stale, whatever it says; one from after it is not', () => {
  expect(expectations.isStale(view('19'))).toBe(true);
  expect(expectations.isStale(view('20'))).toBe(false);
  expect(expectations.isStale(view('21'))).toBe(false);
  expect(expectations.isStale({ name: 'brs-b', resourceVersion: '1' })).toBe(false);
});

test('a shadow that the cache does not show yet is not forgotten', () => {
  expectations.retain([]);
  expect(expectations.isStale(view('10'))).toBe(true);
});

test('nor one that was made anew under its name and is not shown yet', () => {
  expectations.retain([view('20')]);
  expectations.written('brs-a', '30');
  expectations.retain([]);
  expect(expectations.isStale(view('25'))).toBe(true);
});

test('a shadow that was seen and is gone is forgotten', () => {
  expectations.retain([view('20')]);
  expectations.retain([]);
  expect(expectations.isStale(view('10'))).toBe(false);
});

test('an older write whose acknowledgement comes late takes nothing back', () => {
  expectations.written('brs-a', '19');
  expect(expectations.isStale(view('19'))).toBe(true);
});
