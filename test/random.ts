import type { Random } from '../runtime/lib/random.ts';

const { TEST_DEPTH: depth, TEST_SEED: said } = process.env;

/**
 * How much further than usual tests go that draw their cases: `TEST_DEPTH=20` each night, 1 unless it is set, and less where they are run for
 * each of thousands of changes (`npm run lab -- mutation`).
 */
const DEPTH = Number(depth ?? 1);
const deep = (usual: number): number => Math.max(1, Math.round(usual * DEPTH));

/** The same in each usual run, so that a change fails for what it has changed. Whoever goes another depth looks for what is new. */
const SEED = Number(said ?? (depth === undefined ? 1 : 1 + Math.floor(Math.random() * 0x7fffffff)));

/** For fast-check. A property that fails says its seed: `TEST_SEED=N`, at the same depth, repeats it. */
export function runs(usual: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: deep(usual), seed: SEED };
}

/** For tests whose names say their seeds: `TEST_SEED=N` repeats that one alone. */
export function seeds(usual: number): readonly number[] {
  return Array.from({ length: said === undefined ? deep(usual) : 1 }, (_, index) => SEED + index);
}

/** As many of the cases as usual, by depth, in their order; others for another seed. */
export function some<T>(cases: readonly T[], usual: number, seed: number): readonly T[] {
  const random = seeded(seed);
  const order = cases.map((_, index) => ({ index, by: random() })).toSorted((a, b) => a.by - b.by);
  const chosen = new Set(order.slice(0, deep(usual)).map(({ index }) => index));
  return cases.filter((_, index) => chosen.has(index));
}

/** Which of a row of cases: every `step`th, from the one at `first`. */
export interface Stride {
  readonly first: number;
  readonly step: number;
}

/** So that each stretch of the row is tried, others for another seed, and at night all. */
export function stride(usual: number, seed: number): Stride {
  const step = Math.max(1, Math.floor(usual / DEPTH));
  return { first: seed % step, step };
}

/** The same numbers for the same seed, in every run (mulberry32). */
export function seeded(seed = 1): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
