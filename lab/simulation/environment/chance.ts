import type { Random } from '../../../runtime/lib/random.ts';
import { seeded } from '../../../test/random.ts';

/** Randomness of one concern: what another one draws does not change it. */
export function chance(seed: number, concern: string): Random {
  let hash = 0x811c9dc5;
  for (const character of `${seed}/${concern}`) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return seeded(hash);
}

/** A whole number from `least` to `most`. */
export function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

/** One of them. @throws RangeError where there is none */
export function oneOf<T>(random: Random, all: readonly T[]): T {
  const index = Math.floor(random() * all.length);
  if (index >= all.length) throw new RangeError('nothing to choose from');
  return all[index] as T;
}

/** All of them, in an order of its own. */
export function shuffled<T>(random: Random, all: readonly T[]): readonly T[] {
  return all
    .map((item) => ({ item, by: random() }))
    .toSorted((a, b) => a.by - b.by)
    .map(({ item }) => item);
}

/** By weight. */
export function weighed<T extends { readonly weight: number }>(choices: readonly T[], random: Random): T | undefined {
  let left = random() * choices.reduce((sum, { weight }) => sum + weight, 0);
  return choices.find(({ weight }) => (left -= weight) < 0) ?? choices.at(-1);
}

/** Evenly by orders of magnitude: as many small ones as large ones. */
export function spread([from, to]: readonly [number, number], random: Random): number {
  return from * (to / from) ** random();
}
