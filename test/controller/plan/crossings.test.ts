import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { type Blocked, drains, off, planned, told } from './crossing.ts';
import type { World } from './fleet.ts';
import { runs } from '../../random.ts';

describe('whatever waits for whatever', () => {
  const BUDGETS = ['x', 'y', 'z'] as const;
  const one = fc.record({
    waits: fc.subarray([...BUDGETS]),
    holds: fc.subarray([...BUDGETS]),
    since: fc.integer({ min: -9, max: -1 }),
    /** It was called off, and is not back in service yet. */
    returns: fc.nat(3).map((drawn) => drawn === 0),
  });
  type One = Blocked & { readonly returns: boolean };
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

  const worldOf = (some: readonly One[]): World =>
    some.reduce(
      (world, { returns }, at) =>
        returns ? told(world, name(at), { spec: { state: 'Idle', version: '1.1.0' } }) : world,
      drains(Object.fromEntries(some.map((drain, at) => [name(at), drain]))),
    );
  const returning = (some: readonly One[]): readonly string[] =>
    some.flatMap(({ returns }, at) => (returns ? [name(at)] : []));

  test('somebody is called off where drains can never end, and then all others can; nobody is where all can', () => {
    fc.assert(
      fc.property(all, (some) => {
        const gone = off(worldOf(some));
        const back = returning(some);
        expect(gone.length > 0).toBe(stuckOf(some, new Set(back)).size > 0);
        expect([...stuckOf(some, new Set([...back, ...gone]))]).toEqual([]);
      }),
      runs(400),
    );
  });

  test('the oldest of those that wait in circles goes on, so that some always do', () => {
    fc.assert(
      fc.property(all, (some) => {
        const { commands, verdicts } = planned(worldOf(some));
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
