import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { World } from './world.ts';

const NODES = 100;
const HOUR_MS = 3_600_000;
const LIFE_MS = 1.5 * HOUR_MS;
const INTERVAL_MS = 120_000;
const WINDOW_MS = 10_000;

const clock = new VirtualClock();
const worlds: World[] = [];

/** A hundred nodes whose agents are started at one moment, as those of a new DaemonSet, and live for an hour and a half with nothing on offer. */
beforeAll(async () => {
  for (let seed = 1; seed <= NODES; seed++) {
    const world = new World({ clock, seed });
    world.releases.withdraw('1.39.0');
    worlds.push(world);
  }
  await clock.advance(LIFE_MS);
});
afterAll(() => worlds.forEach((world) => world.end()));

/** When the nodes' hosts looked for updates, milliseconds since the start. */
const looks = (): number[] =>
  worlds
    .flatMap(({ host, startedAt }) => host.intervals.map(({ startMs }) => startMs - startedAt))
    .toSorted((a, b) => a - b);

/** The greatest number of looks within any stretch of `ms` after `from`. */
function mostWithin(ms: number, from: number): number {
  const times = looks().filter((time) => time >= from);
  let first = 0;
  return times.reduce((most, time, last) => {
    while (time - (times[first] ?? time) >= ms) first++;
    return Math.max(most, last - first + 1);
  }, 0);
}

test('each node looks for updates about every two minutes', () => {
  for (const { host } of worlds) expect(host.intervals.length).toBeGreaterThan(0.9 * (LIFE_MS / INTERVAL_MS) - 5);
  expect(looks().length).toBeLessThanOrEqual(NODES * (LIFE_MS / INTERVAL_MS) * 1.05);
});

test('a fleet that is started at once does not look in the same moment', () => {
  expect(mostWithin(100, 0)).toBeLessThan(NODES / 5);
});

test('after an hour its looks are spread: no ten seconds hold a quarter of them, where chance alone would put a twelfth', () => {
  expect(mostWithin(WINDOW_MS, HOUR_MS)).toBeLessThan(NODES / 4);
});
