import { tmpdir } from 'node:os';
import { expect, test } from '@jest/globals';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { Releases } from '../../lab/sim/hosts/releases.ts';
import { parseOptions } from '../../lab/sim/options.ts';
import { createFleet } from '../../lab/sim/world/fleet.ts';
import { inWaves } from '../../lab/sim/world/waves.ts';
import { PLAIN } from './support.ts';

const MINUTE_MS = 60_000;

test('three nodes in waves are offered the release one after the other, a minute apart', () => {
  const parsed = parseOptions(['--waves'], []);
  if (parsed.kind !== 'run') throw new Error('expected a rollout');
  expect(parsed.options.waves).toBe(true);
  const kubelet = () => ({ boot: async () => undefined, shutdown: async () => undefined });
  const clock = new VirtualClock();
  const options = { ...PLAIN, waves: true };
  const fleet = createFleet({ options, clock, random: Math.random, kubelet, dir: tmpdir() });
  const releases = new Releases([PLAIN.from]);
  const now = clock.now();
  releases.publish(inWaves(PLAIN.to, now));
  const offeredAt = (after: number) =>
    [...fleet].flatMap(([name, { host }]) => {
      const { seed } = host.settings.updates;
      const versions = releases.available({ seed, ignoreWaves: false, now: now + after });
      return versions.includes(PLAIN.to) ? [name] : [];
    });
  expect([0, 1, 2].map((count) => offeredAt(count * MINUTE_MS))).toEqual([
    ['node-1'],
    ['node-1', 'node-2'],
    ['node-1', 'node-2', 'node-3'],
  ]);
  expect(offeredAt(2 * MINUTE_MS - 1000)).toEqual(['node-1', 'node-2']);
});
