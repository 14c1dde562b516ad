import { afterEach, expect, test } from '@jest/globals';
import { policiesOf } from '../../runtime/api/resources.ts';
import { conditionUpToDate } from '../../runtime/controller/plan/facts/conditions.ts';
import type { Spec } from '../../runtime/api/shadow/model.ts';
import { shadowName } from '../../runtime/api/shadow/names.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { Tapped } from '../kube/world.ts';
import { definePolicies } from '../policies.ts';
import { fail } from '../cli/dashboard/scene.ts';
import { Stage } from './stage.ts';

/** What is wanted of hosts' settings, on a cluster. Hosts run 1.0.0 and offer 1.1.0. */

let stage: Stage;
afterEach(() => stage.end());

const LOCK = { version_lock: '1.0.5' };
const ALL = { nodeSelector: {} };
const wish = async (name: string): Promise<Spec['version_wish']> =>
  (await stage.shadows.get(shadowName(name)))?.spec.version_wish;
const verdict = async (name: string): Promise<string | undefined> =>
  conditionUpToDate((await stage.shadows.get(shadowName(name)))?.status ?? undefined)?.reason;

async function say(version: object | null): Promise<void> {
  const spec = { ...ALL, version };
  await policiesOf(stage.transport).patch('all', { spec });
}

test('a node takes the version that its policy names, stays there, and its host is left alone once its policy names none', async () => {
  stage = await Stage.with('a');
  await definePolicies(stage, { all: { ...ALL, version: { exact: '1.0.5' } } });
  stage.start();
  await stage.pass(60_000);
  expect([await wish('a'), await stage.spec('a'), await verdict('a')]).toEqual([LOCK, 'Idle', 'VersionPinned']);
  await stage.report('a', {
    target_version: '1.0.5',
    version_wish: { ours: LOCK, before: { version_lock: 'latest' } },
  });
  await stage.pass();
  expect([await wish('a'), await stage.spec('a')]).toEqual([LOCK, 'StagedAndPerformedUpdate 1.0.5']);
  await say(null);
  await stage.pass(2000);
  expect(await wish('a')).toEqual(LOCK);
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.0.5' });
  await stage.pass();
  await stage.report('a', { current_state: 'MonitoringUpdate' });
  await stage.pass();
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass();
  expect([await wish('a'), await stage.spec('a')]).toEqual([undefined, 'Idle']);
});

test('with a definition that does not know wishes, nodes say so, few writes are made in vain, and updates go on', async () => {
  stage = await Stage.upstream('a', 'b');
  await definePolicies(stage, { all: { ...ALL, version: { ignoreWaves: true } } });
  await stage.report('b', { target_version: '1.0.0' });
  const tapped = new Tapped(stage.transport);
  const manager = stage.start({ transport: tapped });
  await stage.pass(60_000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
  expect(manager.preview().verdicts).toMatchObject([
    { node: 'a', reason: 'Updating' },
    { node: 'b', reason: 'WriteRefused', message: expect.stringContaining('is of an older version') },
  ]);
  const wishes = tapped.requests.filter(({ body }) => JSON.stringify(body ?? '').includes('version_wish'));
  expect(wishes.length).toBeLessThan(12);
});

/** Of two nodes that came from 1.0.0, a is at rest on 1.1.0, and b, which has failed on it, has halted it. */
async function halted(): Promise<void> {
  stage = await Stage.with('a', 'b');
  await definePolicies(stage, { all: { ...ALL, maxFailed: 1, proof: { nodes: 1 }, onFailure: 'Rollback' } });
  stage.start();
  await stage.pass(60_000);
  await stage.update('a');
  await stage.report('a', { target_version: '1.1.0' });
  await stage.pass(5000);
  expect([await wish('a'), await stage.spec('b')]).toEqual([undefined, 'StagedAndPerformedUpdate 1.1.0']);
  await stage.report('b', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  await fail(stage, 'b');
  await stage.pass();
  await stage.report('b', { current_state: 'Idle' });
  await stage.pass(5000);
}

/** The host of a offers what is wanted of it. */
async function goesBack(): Promise<void> {
  expect(await wish('a')).toEqual({ version_lock: '1.0.0' });
  await stage.report('a', { target_version: '1.0.0' });
  await stage.pass(5000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.0.0');
}

test('a node leaves a release that is halted for its failures for the version that it came from, at the second try too', async () => {
  await halted();
  await goesBack();
  const time = rfc3339(stage.clock.now());
  const why = { state: 'StagedAndPerformedUpdate', reason: 'DownloadFailed', message: 'no such host' } as const;
  await stage.report('a', {
    current_state: 'ErrorReset',
    crash_count: 1,
    state_transition_failure_timestamp: time,
    last_failure: { ...why, version: '1.0.0', time },
  });
  await stage.pass(5000);
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass(60_000);
  expect([await wish('a'), await stage.spec('a')]).toEqual([{ version_lock: '1.0.0' }, 'Idle 1.0.0']);
  await stage.pass(120_000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.0.0');
});

test('a node that is not Ready goes all the way back', async () => {
  await halted();
  await stage.setReady('a', false);
  await goesBack();
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass(5000);
  expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.0.0');
});
