import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Clock, rfc3339 } from '../../runtime/lib/clock.ts';
import { RELEASES_PATH, releasesOf } from '../../runtime/api/resources.ts';
import { RELEASE_API_VERSION, RELEASE_KIND } from '../../runtime/api/release/names.ts';
import { nodeNameOf } from '../../runtime/api/shadow/names.ts';
import { definePolicies } from '../policies.ts';
import { Stage } from './stage.ts';

/** The wall clock of a controller may be set forward and back, while everybody else's goes on. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
let stage: Stage;
let errorMs: number;
let clock: Clock;

beforeEach(async () => {
  stage = await Stage.with('a', 'b');
  errorMs = 0;
  clock = {
    now: () => stage.clock.now() + errorMs,
    monotonic: () => stage.clock.monotonic(),
    sleep: (ms, signal) => stage.clock.sleep(ms, signal),
  };
});
afterEach(() => stage.end());

/** All of this happens on the first of January 2026, from midnight on. */
const WINDOW = { UPDATE_WINDOW_START: '00:30:00', UPDATE_WINDOW_STOP: '00:40:00' };
const started = async (): Promise<boolean> => (await stage.specs('a', 'b')).some((spec) => spec !== 'Idle');

describe('a window', () => {
  beforeEach(async () => {
    stage.start({ clock, env: WINDOW });
    await stage.pass();
    expect(await started()).toBe(false);
  });

  test('that a jump forward has opened is seen within a minute', async () => {
    errorMs = 30 * MINUTE;
    await stage.pass(MINUTE);
    expect(await started()).toBe(true);
  });

  test('that a jump has passed over lets no node start', async () => {
    errorMs = 41 * MINUTE;
    await stage.pass(5 * MINUTE);
    expect(await started()).toBe(false);
  });

  test('that a jump back has put off is waited for, by the clock as it is then', async () => {
    await stage.pass(25 * MINUTE);
    errorMs = -10 * MINUTE;
    await stage.pass(14 * MINUTE);
    expect(await started()).toBe(false);
    await stage.pass(2 * MINUTE);
    expect(await started()).toBe(true);
  });

  test('is met once the clock is right again', async () => {
    errorMs = -24 * HOUR;
    await stage.pass(29 * MINUTE);
    errorMs = 0;
    await stage.pass(2 * MINUTE);
    expect(await started()).toBe(true);
  });
});

/** Each agent takes the next step that it is told to. */
async function moveAgents(): Promise<void> {
  for (const { metadata, spec, status } of await stage.shadows.list()) {
    if (spec.state === status?.current_state) continue;
    const rebooted = spec.state === 'RebootedIntoUpdate' && { current_version: '1.1.0' };
    await stage.report(nodeNameOf(metadata.name)!, { current_state: spec.state, ...rebooted });
  }
}

test.each([-24, 24])(
  'a clock that jumps by %d hours and back at each step of a rollout loses no lease, starts no second node, and fails nothing',
  async (hours) => {
    const controller = stage.start({ clock });
    await stage.pass();
    for (let step = 0; step < 20; step++) {
      errorMs = errorMs === 0 ? hours * HOUR : 0;
      await stage.pass(61_000);
      expect(controller.preview().leading).toBe(true);
      expect((await stage.permits()).length).toBeLessThanOrEqual(1);
      await moveAgents();
    }
    const shadows = await stage.shadows.list();
    expect(shadows.map(({ status }) => status?.current_version)).toEqual(['1.1.0', '1.1.0']);
    expect(await stage.permits()).toEqual([]);
  },
);

describe.each([-24 * 60, -20, 20, 24 * 60])('a clock that jumps by %d minutes', (minutes) => {
  test('rescues no node whose agent has only just ended', async () => {
    stage.start({ clock });
    await stage.pass(2000);
    await stage.askForReboot('a');
    await stage.pass(2000);
    const finishedAt = `${new Date(stage.clock.now()).toISOString().slice(0, 19)}Z`;
    await stage.sayOfAgent('a', { terminated: { finishedAt } });
    await stage.pass(1000);
    errorMs = minutes * MINUTE;
    await stage.pass(61_000);
    expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
    expect((await stage.nodes.get('a'))?.spec?.unschedulable).toBe(true);
  });

  test('blames no release for a node that has only just gone down for its reboot', async () => {
    const controller = stage.start({ clock });
    await stage.pass(2000);
    await stage.askForReboot('a');
    await stage.setReady('a', false);
    await stage.pass(1000);
    errorMs = minutes * MINUTE;
    await stage.pass(61_000);
    expect(controller.preview().verdicts[0]).toMatchObject({ node: 'a', reason: 'Updating' });
    await stage.pass(15 * MINUTE);
    expect(controller.preview().verdicts[0]).toMatchObject({ node: 'a', reason: 'NotReturned' });
  });
});

describe('a time of a ledger that is ahead of the clock of its leader', () => {
  const NAME = '1.1.0.aws-k8s-1.33.amd64';
  const stored = async () => (await releasesOf(stage.transport).get(NAME))?.status;

  beforeEach(async () => {
    await definePolicies(stage, { all: { nodeSelector: {}, version: { minAge: '1h' } } });
    const spec = { family: 'aws-k8s-1.33/amd64', version: '1.1.0' };
    await stage.create(RELEASES_PATH, {
      apiVersion: RELEASE_API_VERSION,
      kind: RELEASE_KIND,
      metadata: { name: NAME },
      spec,
    });
  });

  test('stays as it is where that clock is slow: the next leader waits as long as it says', async () => {
    const at = rfc3339(stage.clock.now());
    const status = { firstOfferedAt: at, policies: { all: { lastFinishedAt: at, lastSeenAt: at } } };
    await releasesOf(stage.transport).patchStatus(NAME, { status });
    errorMs = -2 * HOUR;
    const slow = new AbortController();
    stage.start({ clock, signal: slow.signal });
    await stage.pass(10 * MINUTE);
    expect(await stored()).toMatchObject({ state: 'Proving', ...status });
    slow.abort();
    await stage.pass(MINUTE);
    stage.start();
    await stage.pass(MINUTE);
    expect(await started()).toBe(false);
    await stage.pass(HOUR);
    expect(await started()).toBe(true);
  });

  test('is not waited for where another clock was fast', async () => {
    const firstOfferedAt = rfc3339(stage.clock.now() + 9000 * HOUR);
    await releasesOf(stage.transport).patchStatus(NAME, { status: { firstOfferedAt } });
    stage.start();
    await stage.pass(59 * MINUTE);
    expect(await started()).toBe(false);
    await stage.pass(2 * MINUTE);
    expect(await started()).toBe(true);
    expect(await stored()).toMatchObject({ firstOfferedAt });
  });
});
