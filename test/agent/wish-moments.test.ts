import { describe, expect, test } from '@jest/globals';
import type { FaultName } from '../../lab/sim/hosts/faults.ts';
import { seeds, stride } from '../random.ts';
import { wish } from './hand.ts';
import { quickWorld } from './moments.ts';
import type { World } from './world.ts';

const MINUTE_MS = 60_000;

/** What comes over the host or its agent at a moment. Each is over by itself, or with the end of the wish. */
const DISTURBANCES: Readonly<Record<string, (world: World) => void>> = {
  'the agent is killed': (world) => world.restart(),
  'the host boots': ({ host }) => host.crash(),
  'the host boots and forgets': ({ host }) => {
    host.inject('forgetful', { forMs: MINUTE_MS });
    host.crash();
  },
  'the shadow is deleted': ({ operator }) => operator.deleteShadow(),
  ...Object.fromEntries(
    (
      [
        ['commit-dropped'],
        ['applier-failed'],
        ['half-open'],
        ['unrendered', MINUTE_MS],
        ['no-settings', MINUTE_MS],
        ['garbage'],
        ['truncated'],
        ['silent'],
        ['slow'],
        ['denied'],
        ['busy'],
        ['refresh', MINUTE_MS],
        ['stale-choice', MINUTE_MS],
        ['socket-replaced'],
      ] as readonly [FaultName, number?][]
    ).flatMap(([fault, forMs]) => [
      [fault, ({ host }: World) => host.inject(fault, { ...(forMs && { forMs }) })],
      [
        `${fault}, and the agent is killed`,
        (world: World) => {
          world.host.inject(fault, { ...(forMs && { forMs }) });
          world.restart();
        },
      ],
    ]),
  ),
};

/** A wish, another one, and none, each after so long that the one before has come to be, or is on its way. */
async function wishes(world: World, pauseMs: number): Promise<void> {
  const { operator } = world;
  operator.holding = true;
  await world.until(() => world.idle && operator.status.target_version === '1.39.0');
  for (const wanted of [{ version_lock: '1.37.0' }, { version_lock: '1.38.0', ignore_waves: true }, null]) {
    await world.until(() => operator.shadow.value !== undefined);
    wish(world, wanted);
    await world.advance(pauseMs);
  }
}

/** Disturbed at the moment of that number after the first wish; undefined where all is over before it. */
async function disturbed(at: number, pauseMs: number, disturb: (world: World) => void): Promise<World | undefined> {
  const world = quickWorld();
  let moment = 0;
  world.onMoment = () => {
    if (world.operator.shadow.value?.spec.version_wish === undefined && moment === 0) return;
    if (moment++ === at) disturb(world);
  };
  await wishes(world, pauseMs);
  await world.advance(5 * MINUTE_MS);
  if (moment > at) return world;
  world.end();
  return undefined;
}

const [seed = 1] = seeds(1);

describe(`at every moment of a wish (seed ${seed})`, () => {
  test.each(Object.entries(DISTURBANCES))('%s: nothing of ours is left', async (_, disturb) => {
    for (const pauseMs of [400, 8000]) {
      const { first, step } = stride(47, seed + pauseMs);
      let at = first;
      for (let world; (world = await disturbed(at, pauseMs, disturb)); at += step) {
        await world.advance(5 * MINUTE_MS);
        const { updates, rendered } = world.host.settings;
        const lock = [
          updates['version-lock'],
          updates['ignore-waves'],
          rendered['version-lock'],
          rendered['ignore-waves'],
        ];
        expect({ at, lock }).toEqual({ at, lock: ['latest', false, 'latest', false] });
        expect(world.operator.status.version_wish ?? null).toBeNull();
        world.end();
      }
      expect(at).toBeGreaterThan(first);
    }
  });

  test('the owner sets a lock, and the agent is killed: the lock stays, and no wave is passed over', async () => {
    const body = JSON.stringify({ updates: { 'version-lock': '1.36.0' } });
    const { first, step } = stride(5, seed);
    let at = first;
    const disturb = (world: World): void => {
      void world.host.handle({ method: 'PATCH', path: '/settings?tx=owner', body });
      void world.host.handle({ method: 'POST', path: '/tx/commit_and_apply?tx=owner' });
      world.restart();
    };
    for (let world; (world = await disturbed(at, 8000, disturb)); at += step) {
      const { 'version-lock': left, 'ignore-waves': ignores } = world.host.settings.updates;
      expect({ at, left, ignores }).toEqual({ at, left: '1.36.0', ignores: false });
      world.end();
    }
    expect(at).toBeGreaterThan(50);
  });
});
