import { MINUTE_MS } from '../../../runtime/lib/clock.ts';
import type { Release } from '../hosts/releases.ts';

/**
 * A release's waves, of days in life: the seed after which each begins, and minutes from the publication. Hosts are asked every two minutes what
 * they are offered, at any speed: nearer to each other waves would not be told apart.
 */
const WAVES = [
  { seed: 0, minute: -1 },
  { seed: 20, minute: 1 },
  { seed: 1024, minute: 2 },
] as const;

/** The seed of a node, by its place in the fleet: the first of each wave in turn. */
export const seedAt = (index: number): number => (WAVES[index % WAVES.length]?.seed ?? 0) + 1;

/** A release in waves of minutes. @param now milliseconds since the Unix epoch, at which it is published */
export const inWaves = (version: string, now: number): Release => ({
  version,
  waves: Object.fromEntries(WAVES.map(({ seed, minute }) => [seed, now + minute * MINUTE_MS])),
});
