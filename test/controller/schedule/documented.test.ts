import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { cronExpression } from '../../../runtime/controller/deciding/schedule/cron.ts';
import { documented } from './documented.ts';
import { runs } from '../../random.ts';

const SECOND = 1000;
/** How far is looked for a moment, one second after the other. */
const HORIZON = 2 * 3600;

/** An item of a field with values from `min` to `max`, in each form that there is. */
function item(min: number, max: number): fc.Arbitrary<string> {
  const value = fc.integer({ min, max });
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: 5 });
  return fc.oneof(
    fc.constantFrom('*', '?'),
    value.map(String),
    range,
    fc.tuple(fc.oneof(range, fc.constant('*'), value.map(String)), step).map(([from, by]) => `${from}/${by}`),
  );
}

const list = (one: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('*') },
    { weight: 2, arbitrary: one },
    fc.array(one, { minLength: 2, maxLength: 3 }).map((items) => items.join(',')),
  );

const months = fc.constantFrom('Jan', 'january', 'FEB-Apr', 'March', 'Jan-Dec', 'May,Jan', '1', '1-6', '*/2');
const days = fc.constantFrom('Mon-Fri', 'SUN', 'Tues', 'thursday', 'Sat,Sun', '1', '2-6', '7', 'Wed,Fri');

const expression = fc
  .tuple(
    list(item(0, 59)),
    list(item(0, 59)),
    list(item(0, 23)),
    list(item(1, 31)),
    fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, months),
    fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, days),
    fc.constantFrom('*', '*', '2026', '2025-2027', '2024/2', '2025,2026'),
  )
  .map((fields) => fields.join(' '));

/** Within the first weeks of 2026. */
const moment = fc.integer({ min: 0, max: 60 * 24 * 3600 }).map((seconds) => Date.UTC(2026, 0, 1) + seconds * SECOND);

/** The first second from `start` on, going by `step`, of which `holds` is true; undefined beyond the horizon. */
function firstFrom(start: number, step: number, holds: (second: number) => boolean): number | undefined {
  for (let count = 0; count < HORIZON; count++) if (holds(start + count * step)) return start + count * step;
  return undefined;
}

test('every expression of the documented language is open, fires and changes when the documented rules say so', () => {
  let windows = 0;
  fc.assert(
    fc.property(expression, moment, (text, now) => {
      const { isWindow, matches } = documented(text);
      const state = cronExpression(text)!('UTC').at(now);
      if (isWindow) windows += 1;
      expect(state.open).toBe(isWindow && matches(now));
      const next = firstFrom(now + SECOND, SECOND, (second) => matches(second) !== state.open);
      if (next === undefined) expect(state.changesAt ?? Infinity).toBeGreaterThan(now + HORIZON * SECOND);
      else expect(state.changesAt).toBe(next);
      const last = isWindow ? undefined : firstFrom(now, -SECOND, matches);
      if (last === undefined) expect(state.triggeredAt ?? 0).toBeLessThan(isWindow ? 1 : now - (HORIZON - 1) * SECOND);
      else expect(state.triggeredAt).toBe(last);
    }),
    runs(60),
  );
  expect(windows).toBeGreaterThan(10);
});
