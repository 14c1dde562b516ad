import { afterEach, describe, expect, test } from '@jest/globals';
import { GoneError, UnreachableError } from '../../runtime/kube/errors.ts';
import { ADMIN } from '../../lab/sim/cluster/cluster.ts';
import { SHADOWS, World as ClusterWorld } from '../apiserver/world.ts';
import { Tapped } from '../kube/world.ts';
import { reports, staged } from './hand.ts';
import { type Joined, join } from './joined.ts';
import { World } from './world.ts';

const HOUR_MS = 3_600_000;

describe('a whole cluster that is away for six hours, its watch and its apiserver', () => {
  let world: World;
  afterEach(() => world.end());

  test.each<[string, () => boolean]>([
    ['at rest', () => world.operator.log.at(-1) === 'Idle ->1.39.0'],
    ['in the download', () => world.asked('prepare-update') === 1],
    ['in the drain', () => world.operator.node.cordoned],
    ['after the activation', () => world.asked('activate-update') === 1],
    ['after the reboot', () => world.host.version === '1.39.0'],
  ])('%s, is waited for with few requests, and the update is completed without a failure', async (_, when) => {
    world = new World();
    await world.until(when);
    let asked = 0;
    world.operator.watchable = false;
    world.operator.answer = () => {
      asked++;
      return { kind: 'again', message: 'ECONNREFUSED' };
    };
    await world.advance(6 * HOUR_MS);
    expect(asked).toBeLessThan(6 * 160);
    world.operator.answer = () => undefined;
    world.operator.watchable = true;
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
    expect(world.undrainedReboots).toEqual([]);
    expect(world.ends.filter((end) => end !== 'stopped')).toEqual([]);
  });
});

describe('the mount of the host’s socket dies', () => {
  let world: World;
  afterEach(() => world.end());

  test.each<[string, () => boolean]>([
    ['at rest', () => world.operator.log.at(-1) === 'Idle ->1.38.0'],
    ['in the download', () => world.asked('prepare-update') === 1],
    ['in the drain', () => world.operator.node.cordoned],
    ['in the activation', () => world.asked('activate-update') === 1],
  ])('%s: the agent says so and ends, and the next container completes the update', async (_, when) => {
    world = new World({ pinned: true });
    await world.until(when);
    world.host.restartApi(1000);
    await world.until(() => world.ends.length > 0, 30 * 60_000);
    expect(world.ends).toEqual([expect.stringMatching(/only a new container gets a live one$/)]);
    expect(world.asked('reboot')).toBe(0);
    world.startAgent();
    await world.until(() => world.updated);
    expect(reports(world)).toEqual([]);
    expect(world.undrainedReboots).toEqual([]);
  });
});

describe('the watch of the shadow', () => {
  let joined: Joined;
  afterEach(() => joined.end());

  async function atRest(offered = ['1.39.0']): Promise<{ world: ClusterWorld; tap: Tapped }> {
    const world = await ClusterWorld.create();
    await world.setSpec({ state: 'Idle', version: null });
    await world.setStatus({ current_state: 'Idle' });
    const tap = new Tapped(world.cluster.transport(ADMIN));
    joined = join(world, offered, tap);
    await world.clock.advance(60_000);
    return { world, tap };
  }
  const prepared = async (world: ClusterWorld): Promise<boolean> =>
    (await world.shadow()).status?.current_state === 'StagedAndPerformedUpdate';

  test('is the only one that an agent keeps, and asks for its own shadow alone', async () => {
    const { world, tap } = await atRest();
    await world.setSpec(staged('1.39.0'));
    await world.clock.advance(120_000);
    expect(await prepared(world)).toBe(true);
    expect(tap.watches.map(({ path, query }) => [path, query?.['fieldSelector']])).toEqual([
      [SHADOWS, 'metadata.name=brs-n1'],
    ]);
  });

  test.each([
    ['breaks', new UnreachableError('reset')],
    ['is too old (410)', new GoneError('WATCH shadows', { code: 410, reason: 'Expired' })],
  ])('%s: a wish that was written meanwhile is carried out', async (_, error) => {
    const { world, tap } = await atRest();
    tap.beforeWatch = () => {
      throw error;
    };
    tap.cut(error);
    await world.setSpec(staged('1.39.0'));
    await world.clock.advance(30_000);
    tap.beforeWatch = () => undefined;
    await world.clock.advance(180_000);
    expect(await prepared(world)).toBe(true);
  });

  test('costs the cluster less than five requests an hour at rest, and the agent reads nothing else', async () => {
    const { world } = await atRest([]);
    const asked = world.cluster.audit.length;
    await world.clock.advance(10 * HOUR_MS);
    // The agent's own, and the apiserver's on its behalf: nobody else is there.
    const requests = world.cluster.audit.slice(asked).map(({ verb, resource }) => `${verb} ${resource}`);
    expect(requests.length / 10).toBeLessThan(5);
    expect(requests.filter((request) => !request.startsWith('watch '))).toEqual([]);
  });
});
