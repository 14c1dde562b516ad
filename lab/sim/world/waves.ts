import { MINUTE_MS } from '../../../runtime/lib/clock.ts';
import type { Release } from '../hosts/releases.ts';

/** Seeds of the nodes in turn: each is the last of its wave, and so has the whole of it before itself. Nobody waits with the first. */
const SEEDS = [0, 683, 1366] as const;

/** Hosts are asked every two minutes what they are offered, at any speed: nearer to each other waves would not be told apart. */
const APART_MS = MINUTE_MS;

/** The seed of a node, by its place in the fleet. */
export const seedAt = (index: number): number => SEEDS[index % SEEDS.length] ?? 0;

/** A release whose waves of days are minutes. @param now milliseconds since the Unix epoch, at which it is published */
export const inWaves = (version: string, now: number): Release => ({
  version,
  waves: Object.fromEntries(SEEDS.map((seed, index) => [seed, now + index * APART_MS])),
});
