import type { Mutant } from '../mutant.ts';

/** Rule, what goes with it, the text that goes, and what comes in its place. */
export type Row = readonly [rule: string, without: string, find: string, replace: string];

/** Rules that stand in one file of the controller and are held by the same tests; both are named from the controller's folders. */
export function rowsOf(file: string, tests: readonly string[], rows: readonly Row[]): readonly Mutant[] {
  return rows.map(([rule, without, find, replace]) => ({
    rule,
    without,
    file: `runtime/controller/${file}`,
    find,
    replace,
    tests: tests.map((test) => `test/controller/${test}.test.ts`),
  }));
}
