/** A wave of a release: hosts of seeds up to `seed`, which no wave before it has, may have it at `at` at the latest. */
export interface Wave {
  readonly seed: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** Of the keys of waves. Hosts make themselves seeds below it. */
export const MAX_SEED = 2048;

/** Waves of one release that are believed at most: releases have seven. */
export const MAX_WAVES = 64;

/** Repositories that are read at most. */
export const MAX_REPOSITORIES = 16;

const NS_PER_MS = 1e6;

/**
 * When a release comes to a host, as hosts compute it: the first whole millisecond since the Unix epoch; -Infinity = at once. The share of its
 * wave is taken for each seed below it, not only for those of the same wave. So from the second wave on most hosts come at its end.
 * @see update_ready in Bottlerocket's update_metadata
 */
export function opensAt(waves: readonly Wave[], seed: number): number {
  const sorted = inOrder(waves);
  const start = sorted.findLast((wave) => wave.seed < seed);
  if (!start) return -Infinity;
  const end = sorted.find((wave) => wave.seed >= seed && wave.seed <= MAX_SEED);
  if (!end) return start.at;
  return Math.min(end.at, start.at + shares(end.at - start.at, end.seed - start.seed, seed));
}

/** Hosts divide whole nanoseconds, of which a number holds those of 104 days: the rest of the milliseconds is divided by itself. */
function shares(ms: number, seeds: number, times: number): number {
  const restNs = Math.trunc(((ms % seeds) * NS_PER_MS) / seeds);
  return Math.trunc(ms / seeds) * times + Math.ceil((restNs * times) / NS_PER_MS);
}

/** Which of the waves has a host: 4 of 7; 0 where it waits for none. */
export function waveOf(waves: readonly Wave[], seed: number): { readonly number: number; readonly of: number } {
  return { number: waves.filter((wave) => wave.seed < seed).length, of: waves.length };
}

const inOrder = (waves: readonly Wave[]): readonly Wave[] => waves.toSorted((a, b) => a.seed - b.seed);
