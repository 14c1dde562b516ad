import { describe, expect, test } from '@jest/globals';
import { DRIVERS } from './drivers.ts';
import { seeds, stride } from '../random.ts';
import { reports, staged } from './hand.ts';
import { type Disturbance, quickWorld } from './moments.ts';
import { offered, world } from './stage.ts';
import type { World } from './world.ts';

const MINUTE_MS = 60_000;
const actions = ({ host }: World): string[] => host.intervals.map(({ action }) => action);
const isReady = ({ operator }: World): boolean => operator.shadow.value?.status?.staged?.version === '1.39.0';

describe.each(DRIVERS)('a version that the controller has named to a node at rest, by %s', (driver) => {
  test('is prepared but not activated, is reported as staged, and is not downloaded again when the update begins', async () => {
    await offered({ driver });
    world.operator.hint('1.39.0');
    await world.until(() => isReady(world));
    expect(world.idle).toBe(true);
    const looks = world.asked('refresh-updates');
    await world.advance(10 * MINUTE_MS);
    expect(world.asked('refresh-updates') - looks).toBeGreaterThanOrEqual(4);
    expect(actions(world)).not.toContain('activate');
    world.operator.holding = false;
    const began = world.clock.now();
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.operator.status.current_state === 'StagedAndPerformedUpdate');
    expect(world.clock.now() - began).toBeLessThan(2000);
    await world.until(() => world.updated);
    expect(world.asked('prepare-update')).toBe(1);
    expect(world.operator.status.staged).toEqual({});
  });

  test('is not prepared on a node that is offered another version', async () => {
    await offered({ driver });
    world.operator.hint('1.40.0');
    await world.advance(10 * MINUTE_MS);
    expect(world.asked('prepare-update')).toBe(0);
  });

  test('is void once the host offers another one, which is prepared in its place', async () => {
    await offered({ driver });
    world.operator.hint('1.39.0');
    await world.until(() => isReady(world));
    world.releases.publish({ version: '1.40.0' });
    await world.until(() => world.operator.status.target_version === '1.40.0');
    expect(world.operator.status.staged).toEqual({});
    world.operator.hint('1.40.0');
    await world.until(() => world.operator.status.staged?.version === '1.40.0');
    expect(actions(world)).not.toContain('activate');
  });

  test('is taken from the status before another version is written over it', async () => {
    await offered({ driver });
    world.operator.hint('1.39.0');
    await world.until(() => isReady(world));
    world.releases.publish({ version: '1.40.0' });
    world.operator.want(staged('1.40.0'));
    await world.until(() => world.asked('prepare-update') === 2);
    expect(world.operator.status.staged).toEqual({});
  });

  test('is prepared anew after an unasked boot, which stays on the old version', async () => {
    await offered({ driver });
    world.operator.hint('1.39.0');
    await world.until(() => isReady(world));
    const before = world.operator.status.staged?.boot_id;
    world.host.crash();
    await world.until(() => isReady(world) && world.operator.status.staged?.boot_id !== before);
    expect(world.operator.status.current_version).toBe('1.38.0');
    expect(reports(world)).toEqual([]);
  });
});

describe('what is prepared ahead, and whose activation was cut off,', () => {
  async function cutOff(): Promise<void> {
    await offered();
    world.operator.hint('1.39.0');
    await world.until(() => isReady(world));
    world.operator.holding = false;
    const killed = world.host.observe({
      onCall: ({ path }) => {
        if (path !== '/actions/activate-update') return;
        world.host.inject('dispatcher-killed');
        killed();
      },
    });
    world.operator.want(staged('1.39.0'));
    await world.until(() => world.asked('activate-update') === 1);
  }

  async function takeBack(): Promise<void> {
    world.operator.obeying = false;
    await world.until(() => world.host.intervals.at(-1)?.action === 'activate');
    world.operator.want({ state: 'Idle', version: '1.39.0' });
  }

  test('is taken from the status before it is written over', async () => {
    await cutOff();
    await world.until(() => world.asked('prepare-update') === 2);
    expect(world.operator.status.staged).toEqual({});
    await world.until(() => world.updated);
  });

  test('so it is where the update is taken back', async () => {
    await cutOff();
    await takeBack();
    await world.until(() => world.asked('prepare-update') === 2);
    expect(world.operator.status.staged).toEqual({});
  });

  test('holds a node up for a minute where no status is taken', async () => {
    await cutOff();
    world.operator.answer = (ask) => (ask === 'putStatus' ? { kind: 'again', message: '503' } : undefined);
    await takeBack();
    await world.advance(2 * MINUTE_MS);
    expect(world.operator.node.cordoned).toBe(false);
  });
});

describe('a version that cannot be prepared at rest', () => {
  test('is reported with its reason, blames no release, is tried again minutes later, and delays no look for updates', async () => {
    await offered();
    world.host.inject('prepare');
    world.operator.hint('1.39.0');
    await world.until(() => world.operator.status.staged?.error != null);
    const looks = world.asked('refresh-updates');
    await world.advance(60 * MINUTE_MS);
    expect(world.operator.status.staged?.error).toMatch(/^1\.39\.0: prepare failed on the host/);
    expect(world.operator.status).toMatchObject({ current_state: 'Idle', crash_count: 0 });
    expect(world.operator.status.failed_versions ?? []).toEqual([]);
    expect(world.asked('refresh-updates') - looks).toBeGreaterThan(25);
    expect(world.asked('prepare-update')).toBeLessThan(8);
    world.host.clear('prepare');
    await world.until(() => isReady(world));
    expect(world.operator.status.staged?.error).toBeUndefined();
  });

  test('is no longer reported once the controller asks for it no more', async () => {
    await offered();
    world.host.inject('prepare');
    world.operator.hint('1.39.0');
    await world.until(() => world.operator.status.staged?.error != null);
    world.operator.hint(null);
    await world.until(() => world.operator.status.staged?.error == null);
  });
});

describe('a cluster that does not keep what is prepared ahead', () => {
  test('gets one report, and nothing is prepared', async () => {
    await offered({ drops: ['staged'] });
    world.operator.hint('1.39.0');
    await world.advance(MINUTE_MS);
    let puts = 0;
    world.operator.before = (ask) => void (ask === 'putStatus' && puts++);
    await world.advance(180 * MINUTE_MS);
    expect([puts, world.asked('prepare-update')]).toEqual([0, 0]);
  });
});

const [seed = 1] = seeds(1);
/** Each fourth moment, others in each run, and at night all. */
const FOURTH = stride(4, seed);

/** One node that is named a version at rest, disturbed at a moment until that is prepared. */
async function* disturbed({ disturb, options }: Disturbance): AsyncGenerator<World> {
  for (let at = FOURTH.first; ; at += FOURTH.step) {
    const one = quickWorld(options);
    one.operator.holding = true;
    let moment = 0;
    one.onMoment = () => {
      if (moment++ === at) disturb(one);
    };
    await one.until(() => one.operator.shadow.value?.status?.staged != null);
    one.operator.hint('1.39.0');
    await one.until(() => isReady(one));
    one.onMoment = () => undefined;
    const isOver = moment <= at;
    await one.advance(5 * MINUTE_MS);
    if (!isOver) yield one;
    one.end();
    if (isOver) return;
  }
}

describe(`at moments (seed ${seed}) of preparing ahead`, () => {
  test('an agent that is killed and started again activates nothing, and downloads once for its whole update', async () => {
    let moments = 0;
    for await (const one of disturbed({ disturb: (at) => at.restart() })) {
      moments += 1;
      expect(one.asked('prepare-update')).toBe(1);
      expect(actions(one)).not.toContain('activate');
      one.restart();
      one.operator.holding = false;
      one.operator.want(staged('1.39.0'));
      await one.until(() => one.updated);
      expect(one.asked('prepare-update')).toBe(1);
    }
    expect(moments).toBeGreaterThan(Math.floor(20 / FOURTH.step));
  });

  test('a host that boots comes up with the old version, in service, and nothing is blamed', async () => {
    for await (const one of disturbed({ disturb: (at) => at.host.crash() })) {
      expect(one.host.version).toBe('1.38.0');
      expect(one.operator.status).toMatchObject({ crash_count: 0, current_state: 'Idle' });
      expect(one.operator.node.cordoned).toBe(false);
      expect(actions(one)).not.toContain('activate');
    }
  });
});
