import { afterEach, describe, expect, test } from '@jest/globals';
import type { FailureReason } from '../../runtime/api/shadow/model.ts';
import type { FaultName } from '../../lab/sim/hosts/faults.ts';
import { reports } from './hand.ts';
import { World } from './world.ts';

const TIMES = { prepareMs: 6000, rebootMs: 5000, shutdownMs: 1000 };
let world: World;
afterEach(() => world.end());

const start = (): World => {
  world = new World({ driver: 'k3os', hostTimes: TIMES });
  world.operator.drainMs = 1000;
  return world;
};
const links = () =>
  ['k3os', 'k3s', 'kernel'].map((component) => world.disk.linkAt(`/k3os/system/${component}/current`));
const WHOLE = { old: ['v1.38.0', 'v1.38.0', 'v1.38.0'], new: ['v1.39.0', 'v1.39.0', 'v1.39.0'] };

test('a k3OS host is upgraded by its own tool, once, after its drain, and booted', async () => {
  start();
  world.operator.before = (ask) => {
    if (ask === 'cordonAndDrain' && !world.operator.node.drained) expect(world.asked('upgrade')).toBe(0);
  };
  await world.until(() => world.updated);
  expect([world.asked('upgrade'), links(), reports(world), world.undrainedReboots]).toEqual([1, WHOLE.new, [], []]);
});

/** By the fault of the host, which begins with the drain: what becomes of the node. */
const MATRIX: Readonly<Partial<Record<FaultName, 'updated' | 'gone' | FailureReason>>> = {
  // Its kernel was in place by then.
  activate: 'PrepareFailed',
  'repository-gone': 'HostFailed',
  'offer-gone': 'updated',
  // It says that all is well, and has done nothing: for ten seconds.
  garbage: 'updated',
  // It is killed at the deadline, with which the time for the step is over.
  hang: 'HostFailed',
  'half-open': 'HostFailed',
  // In between it takes the old link away and makes the new one.
  'updog-killed': 'updated',
  busy: 'updated',
  silent: 'updated',
  'unplanned-reboot': 'updated',
  inhibitor: 'updated',
  'reboot-500': 'updated',
  'reboot-ignored': 'RebootFailed',
  boot: 'BootFailed',
  'no-return': 'gone',
};

describe('a fault of the host', () => {
  test.each(Object.entries(MATRIX))('%s: %s', async (fault, outcome) => {
    start();
    world.operator.before = (ask) => {
      if (ask !== 'cordonAndDrain') return;
      world.operator.before = () => undefined;
      world.host.inject(fault as FaultName);
    };
    await world.until(() => (outcome === 'gone' ? !world.host.boot : world.updated || world.restored));
    await world.advance(600_000);
    expect(world.undrainedReboots).toEqual([]);
    if (outcome === 'gone') return expect(world.host.boot).toBeUndefined();
    const reason = world.operator.status.last_failure?.reason;
    expect(world.updated ? 'updated' : reason).toBe(outcome);
    // What was half done is undone: whatever boots the host next, boots what it ran.
    if (outcome !== 'BootFailed') expect(links()).toEqual(world.updated ? WHOLE.new : WHOLE.old);
    else expect(world.operator.status.failed_versions).toEqual(['1.39.0']);
  });
});

test('a host in live mode, which cannot be upgraded, is not drained', async () => {
  start();
  world.disk.write('/run/k3os/mode', 'live\n');
  world.operator.before = (ask) => expect(ask).not.toBe('cordonAndDrain');
  await world.until(() => reports(world).length > 0);
  expect(world.operator.status.last_failure).toMatchObject({ reason: 'Unsupported' });
});

test('a version that a person set to boot next is undone, where the agent has seen which one ran', async () => {
  start();
  world.operator.obeying = false;
  await world.until(() => world.operator.status.current_state === 'Idle');
  await world.advance(200_000);
  world.disk.link('/k3os/system/k3os/current', 'v1.37.0');
  await world.advance(200_000);
  expect([links(), world.operator.status.target_version]).toEqual([WHOLE.old, '1.38.0']);
});

test('an agent that starts after an upgrade takes the booted version for the running one, not the next one', async () => {
  start();
  world.host.inject('reboot-ignored');
  world.operator.before = (ask) => {
    if (ask !== 'cordonAndDrain' || links()[0] !== 'v1.39.0') return;
    world.operator.before = () => undefined;
    world.restart();
  };
  await world.until(() => reports(world).length > 0);
  const message = expect.stringContaining('did not go down for 180 seconds');
  expect(world.operator.status).toMatchObject({
    current_version: '1.38.0',
    last_failure: { reason: 'RebootFailed', message },
  });
});

test('a half-done upgrade of an agent that was killed is undone by the next one, whose mount is read-only at first', async () => {
  start();
  world.operator.before = (ask) => {
    if (ask !== 'cordonAndDrain') return;
    world.operator.before = () => undefined;
    world.host.inject('updog-killed');
  };
  await world.until(() => links()[0] === undefined);
  world.restart();
  world.host.inject('repository-gone', { forMs: 3_600_000 });
  await world.until(() => world.updated || world.restored);
  expect([links(), world.undrainedReboots]).toEqual([WHOLE.old, []]);
});

test('a part that had no link when the host booted keeps the one that a failed upgrade has made, and all else is put back', async () => {
  start();
  world.disk.link('/k3os/system/kernel/previous', 'v1.37.0');
  world.disk.remove('/k3os/system/kernel/current');
  world.operator.before = (ask) => {
    if (ask !== 'cordonAndDrain') return;
    world.operator.before = () => undefined;
    world.host.inject('activate');
  };
  await world.until(() => world.restored);
  expect([links(), world.undrainedReboots]).toEqual([['v1.38.0', 'v1.38.0', 'v1.39.0'], []]);
});

test.each(['null\n', '{"booted":null}\n', '{"booted":"v1.38.0"}\n', '{'])(
  'a record of the boot that says %j is none',
  async (text) => {
    start();
    world.disk.write('/run/k3os/brupop.json', text);
    await world.until(() => world.updated);
    expect(links()).toEqual(WHOLE.new);
  },
);
