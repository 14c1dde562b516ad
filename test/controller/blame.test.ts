import { afterEach, expect, test } from '@jest/globals';
import type { Manager } from '../../runtime/controller/manager.ts';
import { Stage } from './stage.ts';

/** What a release is blamed for, on a cluster: `a` is updated, and `b` may follow as long as the release is not to blame. */

const MINUTE = 60_000;
const RULES = { MAX_FAILED_UPDATE: '1', MAX_CONCURRENT_UPDATE: '2' };
let stage: Stage;
let controller: Manager;
afterEach(() => stage.end());

const reasons = (): readonly string[] => controller.preview().verdicts.map(({ reason }) => reason);

async function begin(signal?: AbortSignal): Promise<void> {
  controller = stage.start({ env: RULES, ...(signal && { signal }) });
  await stage.pass();
}

async function boot(node: string, bootID: string, version: string): Promise<void> {
  const nodeInfo = { osImage: `Bottlerocket OS ${version} (aws-k8s-1.33)`, bootID };
  await stage.patch(`/api/v1/nodes/${node}/status`, { status: { nodeInfo } });
  await stage.setReady(node, true);
}

test('a node that goes away in its drain and stays away blames no release', async () => {
  stage = await Stage.with('a', 'b');
  await begin();
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  await stage.mark('a');
  await stage.setReady('a', false);
  await stage.pass(60 * MINUTE);
  expect(reasons()).not.toContain('NotReturned');
  expect(reasons()[1]).not.toBe('RolloutHalted');
});

test('a node that goes away once it has staged is left there, and goes on when it is back', async () => {
  stage = await Stage.with('a', 'b');
  await begin();
  await stage.setReady('a', false);
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass(60 * MINUTE);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
  expect(reasons()).not.toContain('NotReturned');
  await stage.setReady('a', true);
  await stage.pass();
  expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
});

test('a node that comes back without its agent blames the release that it was rebooted into', async () => {
  stage = await Stage.with('a', 'b');
  await begin();
  await stage.askForReboot('a');
  await stage.setReady('a', false);
  await stage.pass(2 * MINUTE);
  await boot('a', 'boot-2', '1.1.0');
  await stage.loseAgent('a');
  await stage.pass(14 * MINUTE);
  expect(reasons()[1]).toBe('Unproven');
  await stage.pass(60 * MINUTE);
  expect(reasons()).toEqual(['NotReturned', 'RolloutHalted']);
  expect(await stage.spec('b')).toBe('Idle');
  await stage.startAgent('a');
  await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0', reboot: null });
  await stage.pass();
  expect(reasons()).not.toContain('NotReturned');
});

test('the record of a reboot that a rescue has left blames no release for what the machine does later', async () => {
  stage = await Stage.with('a', 'b');
  await begin();
  await stage.askForReboot('a');
  await stage.loseAgent('a');
  await stage.pass(20 * MINUTE);
  expect(await stage.spec('a')).toBe('Idle 1.1.0');
  await stage.setReady('a', false);
  await stage.pass(60 * MINUTE);
  expect(reasons()).not.toContain('NotReturned');
});

test('a node that is not Ready soon after its update blames the release for as long, under a new leader too', async () => {
  stage = await Stage.with('a', 'b');
  const first = new AbortController();
  await begin(first.signal);
  await stage.update('a');
  await stage.update('b');
  expect(reasons()).toEqual(['UpToDate', 'UpToDate']);
  first.abort();
  await stage.pass(5000);
  await begin();
  await stage.setReady('a', false);
  await stage.pass(14 * MINUTE);
  expect(reasons()[0]).toBe('UpToDate');
  await stage.pass(2 * MINUTE);
  expect(reasons()).toEqual(['SoakFailed', 'UpToDate']);
  await stage.setReady('a', true);
  await stage.pass();
  expect(reasons()[0]).toBe('UpToDate');
});
