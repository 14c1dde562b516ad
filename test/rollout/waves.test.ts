import { tmpdir } from 'node:os';
import { expect, test } from '@jest/globals';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { Releases } from '../../lab/sim/hosts/releases.ts';
import { parseOptions } from '../../lab/sim/options.ts';
import { createFleet } from '../../lab/sim/world/fleet.ts';
import { inWaves } from '../../lab/sim/world/waves.ts';
import { rowsOf } from '../../lab/sim/view/rows.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { PLAIN, until, withRollout } from './support.ts';

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
  /** A host comes by its share of its wave later. */
  const offeredAt = (after: number) =>
    [...fleet].flatMap(([name, { host }]) => {
      const { seed } = host.settings.updates;
      const versions = releases.available({ seed, ignoreWaves: false, now: now + after + 2000 });
      return versions.includes(PLAIN.to) ? [name] : [];
    });
  expect([0, 1, 2].map((count) => offeredAt(count * MINUTE_MS))).toEqual([
    ['node-1'],
    ['node-1', 'node-2'],
    ['node-1', 'node-2', 'node-3'],
  ]);
  expect(offeredAt(2 * MINUTE_MS - 3000)).toEqual(['node-1', 'node-2']);
});

test('the controller reads the repository of the fleet, and so a node is told when its wave opens', async () => {
  await withRollout({ options: { waves: true } }, async (rollout) => {
    const { recorder } = rollout;
    // The last one's wave is two minutes away: time enough for a busy machine.
    await until(rollout, () => / wave at \S+Z$/.test(rowsOf(recorder, systemClock.now()).at(-1)?.why ?? ''));
    const release = [...recorder.releases.values()].find(({ spec }) => spec.version === PLAIN.to);
    expect(release?.status?.published?.repositories).toMatchObject([
      { waves: [{ seed: 0 }, { seed: 20 }, { seed: 1024 }] },
    ]);
  });
}, 150_000);
