import type { Random } from '../../runtime/lib/random.ts';
import { seeded } from '../random.ts';

/** A generator for one concern of a seed: what one concern draws shifts no other's numbers. */
export function generator(seed: number, concern: string): Random {
  let mixed = seed | 0;
  for (const letter of concern) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193);
  const random = seeded(mixed);
  // Seeds that are neighbours begin alike.
  random();
  return random;
}

export function oneOf<T>(choices: readonly [T, ...T[]], random: Random): T {
  return choices[Math.floor(random() * choices.length)] ?? choices[0];
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
