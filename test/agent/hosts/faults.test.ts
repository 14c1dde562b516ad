import { describe, expect, test } from '@jest/globals';
import { HostUnreachableError } from '../../../runtime/agent/hosts/errors.ts';
import { FAULTS, type FaultName, OF_SETTINGS } from '../../../lab/sim/hosts/faults.ts';
import { rig } from './rig.ts';

type Rig = ReturnType<typeof rig>;

/** What an action of the driver comes to: `done`, or the name of the error, and about how many seconds it took. */
type Outcome = readonly [end: string, seconds: number];

interface Row {
  readonly fault: FaultName;
  readonly refresh: Outcome;
  readonly prepare: Outcome;
  readonly activate: Outcome;
  readonly reboot: Outcome;
}

const DONE = { refresh: ['done', 3], prepare: ['done', 30], activate: ['done', 3], reboot: ['done', 0] } as const;
const all = (end: string, seconds: number): Omit<Row, 'fault'> => {
  const same: Outcome = [end, seconds];
  return { refresh: same, prepare: same, activate: same, reboot: same };
};

/** Each action on a host that was brought to just before it without the fault. */
const MATRIX: readonly Row[] = [
  { fault: 'boot', ...DONE },
  { fault: 'unmarked', ...DONE },
  { fault: 'refresh', ...DONE, refresh: ['HostActionFailedError', 3] },
  { fault: 'prepare', ...DONE, prepare: ['WriteFailedError', 30] },
  { fault: 'migration', ...DONE, prepare: ['WriteFailedError', 15] },
  { fault: 'no-migrations', ...DONE, prepare: ['NoMigrationsError', 15] },
  { fault: 'repository-gone', ...all('HostActionFailedError', 1), reboot: ['done', 0] },
  { fault: 'repository-expired', ...all('HostActionFailedError', 0.25), reboot: ['done', 0] },
  { fault: 'repository-dropped', ...all('HostActionFailedError', 50), reboot: ['done', 0] },
  {
    fault: 'repository-silent',
    refresh: ['HostActionLostError', 119.5],
    prepare: ['HostActionFailedError', 150],
    activate: ['HostActionLostError', 119.5],
    reboot: ['done', 0],
  },
  { fault: 'activate', ...DONE, activate: ['HostActionFailedError', 3] },
  { fault: 'deactivate', ...DONE },
  { fault: 'busy', refresh: ['done', 33], prepare: ['done', 60], activate: ['done', 33], reboot: ['done', 0] },
  { fault: 'reader', refresh: ['done', 33], prepare: ['done', 60], activate: ['done', 33], reboot: ['done', 0] },
  { fault: 'dispatcher-missing', ...all('UpdatesUnsupportedError', 0), reboot: ['done', 0] },
  { fault: 'dispatcher-failed', ...DONE },
  {
    fault: 'dispatcher-killed',
    refresh: ['HostActionLostError', 6.5],
    prepare: ['HostActionLostError', 20],
    activate: ['HostActionLostError', 6.5],
    reboot: ['done', 0],
  },
  {
    fault: 'updog-killed',
    refresh: ['HostActionFailedError', 1.5],
    prepare: ['HostActionFailedError', 15],
    activate: ['HostActionFailedError', 1.5],
    reboot: ['done', 0],
  },
  { fault: 'updog-missing', ...all('HostActionLostError', 5), reboot: ['done', 0] },
  {
    fault: 'torn-status',
    refresh: ['HostProtocolError', 62],
    prepare: ['HostProtocolError', 89],
    activate: ['HostProtocolError', 62],
    reboot: ['done', 0],
  },
  { fault: 'stale-choice', ...DONE },
  {
    fault: 'hang',
    refresh: ['HostActionLostError', 119.5],
    prepare: ['HostActionLostError', 1199.5],
    activate: ['HostActionLostError', 119.5],
    reboot: ['done', 0],
  },
  { fault: 'garbage', refresh: ['done', 13], prepare: ['done', 40], activate: ['done', 13], reboot: ['done', 0] },
  { fault: 'truncated', refresh: ['done', 13], prepare: ['done', 40], activate: ['done', 13], reboot: ['done', 5] },
  { fault: 'silent', refresh: ['done', 33], prepare: ['done', 60], activate: ['done', 33], reboot: ['done', 30] },
  { fault: 'slow', refresh: ['done', 7], prepare: ['done', 35], activate: ['done', 7], reboot: ['done', 2] },
  {
    fault: 'socket-gone',
    refresh: ['HostActionLostError', 26.5],
    prepare: ['HostActionLostError', 40],
    activate: ['HostActionLostError', 26.5],
    reboot: ['done', 0],
  },
  {
    fault: 'socket-replaced',
    refresh: ['HostActionLostError', 11.5],
    prepare: ['HostActionLostError', 25],
    activate: ['HostActionLostError', 11.5],
    reboot: ['done', 0],
  },
  { fault: 'half-open', refresh: ['done', 15], prepare: ['done', 30], activate: ['done', 15], reboot: ['done', 15] },
  { fault: 'denied', refresh: ['done', 23], prepare: ['done', 50], activate: ['done', 23], reboot: ['done', 20] },
  { fault: 'offer-gone', ...DONE, prepare: ['OtherImageError', 3] },
  { fault: 'offer-changed', ...DONE, prepare: ['OtherImageError', 30] },
  { fault: 'released', ...DONE, prepare: ['OtherImageError', 30] },
  { fault: 'torn-settings', ...DONE, prepare: ['OtherImageError', 30] },
  ...OF_SETTINGS.map((fault) => Object.assign({ fault }, DONE)),
  { fault: 'reworded', ...DONE },
  { fault: 'no-wave', ...DONE, prepare: ['OtherImageError', 3] },
  { fault: 'downgrade', ...DONE, prepare: ['OtherImageError', 30] },
  { fault: 'staged-by-hand', ...DONE },
  { fault: 'activated-by-hand', ...DONE },
  { fault: 'restaged-by-hand', ...DONE, activate: ['UpdateGoneError', 3] },
  { fault: 'inhibitor', ...DONE },
  { fault: 'reboot-500', ...DONE },
  { fault: 'reboot-dropped', ...DONE },
  { fault: 'reboot-ignored', ...DONE },
  {
    fault: 'unplanned-reboot',
    refresh: ['HostActionLostError', 46.5],
    prepare: ['HostActionLostError', 60],
    activate: ['HostActionLostError', 45.5],
    reboot: ['done', 0],
  },
  { fault: 'no-return', ...DONE },
];

const STEPS = ['refresh', 'prepare', 'activate', 'reboot'] as const;
type Step = (typeof STEPS)[number];

function act({ driver }: Rig, step: Step): Promise<unknown> {
  return step === 'prepare' || step === 'activate' ? driver[step]('1.39.0') : driver[step]();
}

async function outcome(world: Rig, step: Step): Promise<Outcome> {
  const start = world.clock.monotonic();
  const end = await world.finish(
    act(world, step).then(
      () => 'done',
      (error: Error) => error.name,
    ),
  );
  return [end, (world.clock.monotonic() - start) / 1000];
}

describe('the driver under each fault of the host', () => {
  test('the table names every fault', () => {
    expect(MATRIX.map(({ fault }) => fault).toSorted()).toEqual(Object.keys(FAULTS).toSorted());
  });

  for (const { fault, ...expected } of MATRIX) {
    test.each(STEPS)(`${fault} in %s`, async (step) => {
      const world = rig();
      for (const earlier of STEPS.slice(0, STEPS.indexOf(step))) await world.finish(act(world, earlier));
      world.host.inject(fault);
      const [end, seconds] = await outcome(world, step);
      expect(end).toBe(expected[step][0]);
      expect(seconds).toBeGreaterThanOrEqual(expected[step][1] - 0.001);
      expect(seconds).toBeLessThanOrEqual(expected[step][1] * 1.05 + 2);
    });
  }
});

describe('a host that stays in trouble', () => {
  test.each<[FaultName, Step]>([
    ['dispatcher-failed', 'refresh'],
    ['dispatcher-failed', 'prepare'],
    ['dispatcher-failed', 'activate'],
    ['reboot-500', 'reboot'],
  ])('%s: what cannot begin for a minute has failed (%s)', async (fault, step) => {
    const world = rig();
    for (const earlier of STEPS.slice(0, STEPS.indexOf(step))) await world.finish(act(world, earlier));
    world.host.inject(fault, { uses: Infinity });
    const [end, seconds] = await outcome(world, step);
    expect(end).toBe('HostActionFailedError');
    expect(seconds).toBeGreaterThan(55);
    expect(seconds).toBeLessThanOrEqual(61);
  });

  test.each([
    ['busy', 'HostBusyError', { status: 60_000, refresh: 120_000 }],
    ['garbage', 'HostProtocolError', { status: 60_000, refresh: 60_000 }],
    ['truncated', 'HostUnreachableError', { status: 60_000, refresh: 60_000 }],
    // Each of its silences lasts for a quarter of a minute.
    ['silent', 'HostUnreachableError', { status: 76_000, refresh: 76_000 }],
  ] as const)('%s: every call ends with %s in its time', async (fault, error, limits) => {
    const { driver, host, finish, clock } = rig();
    host.inject(fault, { forMs: Infinity });
    for (const call of ['status', 'refresh'] as const) {
      const start = clock.monotonic();
      await expect(finish(driver[call]())).rejects.toMatchObject({ name: error });
      expect(clock.monotonic() - start).toBeLessThanOrEqual(limits[call]);
    }
  });

  test('a pinned socket is dead once the API server has made a new one, and not while it is away', async () => {
    const { driver, host, finish, clock } = rig({ pinned: true });
    host.restartApi(3600_000);
    await expect(finish(driver.status())).rejects.toMatchObject({ code: 'ECONNREFUSED', socketDead: true });
    await clock.advance(3600_000);
    await expect(finish(driver.status())).rejects.toMatchObject({ code: 'ESTALE', socketDead: true });
  });

  test('the result of an earlier action of the same kind is not taken for that of a killed one', async () => {
    const { driver, host, finish } = rig();
    await finish(driver.refresh());
    host.inject('dispatcher-killed');
    await expect(finish(driver.refresh())).rejects.toMatchObject({ name: 'HostActionLostError', action: 'refresh' });
  });

  test("somebody else's action is not taken for the end of a killed one", async () => {
    const { driver, host, finish, clock, call } = rig();
    await finish(driver.refresh());
    host.inject('dispatcher-killed');
    const failed = expect(driver.prepare('1.39.0')).rejects.toMatchObject({ name: 'HostActionLostError' });
    await clock.advance(16_000);
    expect(await call('POST /actions/refresh-updates')).toBe('204');
    await clock.advance(30_000);
    await failed;
  });

  test("other tools that take the lock again and again are not taken for a killed action's work", async () => {
    const { driver, host, finish, clock } = rig();
    await finish(driver.refresh());
    host.inject('dispatcher-killed');
    const ended: string[] = [];
    void driver.prepare('1.39.0').catch((error: Error) => ended.push(error.name));
    await clock.advance(16_000);
    for (let turn = 0; turn < 5; turn++) {
      host.inject('busy', { forMs: 3000 });
      await clock.advance(4000);
    }
    expect(ended).toEqual(['HostActionLostError']);
  });

  test('a deactivation that fails is reported with what the host said', async () => {
    const world = rig();
    for (const step of ['refresh', 'prepare', 'activate'] as const) await world.finish(act(world, step));
    world.host.inject('deactivate');
    await expect(world.finish(world.driver.deactivate())).rejects.toThrow(
      'deactivate failed on the host with exit status 1: Failed to deactivate: simulated fault',
    );
  });

  test('a dead socket ends even a call that may last long after a minute', async () => {
    const { driver, host, finish, clock } = rig();
    await finish(driver.refresh());
    host.inject('no-return');
    host.crash();
    const start = clock.monotonic();
    await expect(finish(driver.prepare('1.39.0'))).rejects.toMatchObject({ code: 'ECONNREFUSED', socketDead: true });
    expect(clock.monotonic() - start).toBeLessThanOrEqual(60_000);
  });

  test('90 seconds of a busy host are no part of the minute in which its socket may be away', async () => {
    const { driver, host, finish, clock } = rig();
    await finish(driver.refresh());
    host.inject('busy', { forMs: 90_000 });
    const prepared = driver.prepare('1.39.0');
    await clock.advance(89_500);
    host.restartApi(10_000);
    expect((await finish(prepared)).state).toBe('Staged');
  });

  test('a busy host counts from its own first answer, and not from when its socket was away before', async () => {
    const { driver, host, finish } = rig();
    await finish(driver.refresh());
    host.inject('busy', { forMs: 90_000 });
    host.restartApi(5_000);
    expect((await finish(driver.prepare('1.39.0'))).state).toBe('Staged');
  });

  test.each([
    ['before an action', 'busy'],
    ['in an action', 'hang'],
  ] as const)('a socket that goes away at the deadline, %s, is no dead mount: it has its minute', async (_, fault) => {
    const { driver, host, finish, clock } = rig();
    await finish(driver.refresh());
    host.inject(fault);
    if (fault === 'busy') host.inject(fault, { forMs: 59_000 });
    const refreshed = driver.refresh().then(
      () => 'done',
      (error: Error & { socketDead?: boolean }) => (error.socketDead ? 'dead mount' : error.name),
    );
    await clock.advance(58_000);
    host.restartApi(10_000);
    expect(await finish(refreshed)).not.toBe('dead mount');
  });

  test('an action is never repeated when only its answer was lost', async () => {
    const { driver, host, finish, transport } = rig();
    const plain = transport.request.bind(transport);
    let lost = 0;
    transport.request = async (request) => {
      const response = await plain(request);
      if (request.method === 'GET' || lost++ > 0) return response;
      throw new HostUnreachableError('POST', 'ECONNRESET');
    };
    expect((await finish(driver.refresh())).state).toBe('Available');
    expect(host.requests.get('POST /actions/refresh-updates')).toBe(1);
  });
});
