import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { type Blocked, drains, off, planned } from './crossing.ts';
import { runs } from '../../random.ts';

describe('whatever waits for whatever', () => {
  const BUDGETS = ['x', 'y', 'z'] as const;
  const one = fc.record({
    waits: fc.subarray([...BUDGETS]),
    holds: fc.subarray([...BUDGETS]),
    since: fc.integer({ min: -9, max: -1 }),
  });
  const all = fc.array(one, { minLength: 2, maxLength: 5 });
  const name = (index: number): string => `n${index}`;

  /** Those that never end, where one ends once each budget that it waits for has been spared by one that has ended, or is nobody's. */
  function stuckOf(some: readonly Blocked[], gone: ReadonlySet<string>): ReadonlySet<string> {
    const ended = new Set(gone);
    const before = (): boolean =>
      some.some((drain, index) => {
        if (ended.has(name(index))) return false;
        const mayEnd = drain.waits!.every((budget) => {
          const others = some.flatMap(({ holds }, at) => (at !== index && holds!.includes(budget) ? [name(at)] : []));
          return others.length === 0 || others.some((other) => ended.has(other));
        });
        if (mayEnd) ended.add(name(index));
        return mayEnd;
      });
    while (before());
    return new Set(some.map((_, index) => name(index)).filter((drain) => !ended.has(drain)));
  }

  const calledOff = (some: readonly Blocked[]): readonly string[] =>
    off(drains(Object.fromEntries(some.map((drain, index) => [name(index), drain]))));

  test('somebody is called off where drains can never end, and then all others can; nobody is where all can', () => {
    fc.assert(
      fc.property(all, (some) => {
        const gone = new Set(calledOff(some));
        expect(gone.size > 0).toBe(stuckOf(some, new Set()).size > 0);
        expect([...stuckOf(some, gone)]).toEqual([]);
      }),
      runs(400),
    );
  });

  test('the oldest of those that wait in circles goes on, so that some always do', () => {
    fc.assert(
      fc.property(all, (some) => {
        const { commands, verdicts } = planned(drains(Object.fromEntries(some.map((drain, at) => [name(at), drain]))));
        const gone = commands.flatMap((command) => (command.kind === 'call-off' ? [command.node] : []));
        const crossed = verdicts.filter(({ reason }) => reason === 'BudgetsCrossed').map(({ node: one_ }) => one_);
        const age = (of: string): number => some[Number(of.slice(1))]?.since ?? 0;
        const [oldest = 'none'] = crossed.toSorted((a, b) => age(a) - age(b) || a.localeCompare(b));
        expect(gone).not.toContain(oldest);
      }),
      runs(400),
    );
  });
});
