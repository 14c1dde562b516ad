import type { Random } from '../../runtime/lib/random.ts';

/** By weight. */
export function weighed<T extends { readonly weight: number }>(choices: readonly T[], random: Random): T | undefined {
  let left = random() * choices.reduce((sum, { weight }) => sum + weight, 0);
  return choices.find(({ weight }) => (left -= weight) < 0) ?? choices.at(-1);
}

/** Evenly by orders of magnitude: as many small ones as large ones. */
export function spread([from, to]: readonly [number, number], random: Random): number {
  return from * (to / from) ** random();
}
