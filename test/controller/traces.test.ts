import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { VerifiedAgent } from '../../runtime/apiserver/auth/authenticator.ts';
import type { Apiserver } from '../../runtime/apiserver/apiserver.ts';
import { readMarks } from '../../runtime/api/marks/marks.ts';
import { MANAGED_LABEL, shadowName } from '../../runtime/api/shadow/names.ts';
import { settle } from '../../lab/sim/clock.ts';
import { Stage } from './stage.ts';
import { intercepted } from './transports.ts';

/** Schedules that broke earlier versions of the protocol, with the real controller and the real apiserver, each step placed by hand. */

let stage: Stage;
let agent: VerifiedAgent;
let apiserver: Apiserver;
/** Opens the gate at which the apiserver's next cordon waits, if one was asked to. */
let wake: (() => void) | undefined;
let isHeld = false;

beforeEach(async () => {
  stage = await Stage.withoutConditions('a', 'b');
  wake = undefined;
  isHeld = false;
  const transport = intercepted(stage.transport, async (request, go) => {
    if (isHeld && request.method === 'PATCH' && JSON.stringify(request.body).includes('unschedulable')) {
      isHeld = false;
      await new Promise<void>((resolve) => (wake = resolve));
    }
    return go();
  });
  apiserver = stage.apiserver({ transport });
  agent = { nodeName: 'a', nodeUid: (await stage.nodes.get('a'))!.metadata.uid, bootId: 'boot-1' };
});
afterEach(() => stage.end());

/** `a` has staged and is wanted in its reboot. */
async function aboutToReboot(): Promise<void> {
  stage.start({ env: { AGENT_TIMEOUT_IN_SEC: '900' } });
  await stage.pass();
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  expect(await stage.specs('a', 'b')).toEqual(['RebootedIntoUpdate 1.1.0', 'Idle']);
}

const drain = (): Promise<unknown> => apiserver.service.cordonAndDrain(agent);
const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { status?: number }) => String(error.status),
  );
const idle = { current_version: '1.0.0', target_version: '1.1.0', current_state: 'Idle', crash_count: 0 } as const;

async function nodeOfA(): Promise<{ cordoned: boolean; marked: boolean }> {
  const node = (await stage.nodes.get('a'))!;
  return { cordoned: node.spec?.unschedulable === true, marked: readMarks(node) !== undefined };
}
const UNTOUCHED = { cordoned: false, marked: false };

test('a shadow that is deleted while its agent still acts on it frees no permit', async () => {
  await aboutToReboot();
  await drain();
  await stage.shadows.delete(shadowName('a'), {});
  await stage.pass(60_000);
  expect(await stage.permits()).toEqual(['brs-a']);
  expect(await stage.spec('b')).toBe('Idle');
  expect((await nodeOfA()).marked).toBe(true);
});

describe('14:', () => {
  test('a shadow that is deleted in mid-update and comes back at rest has its marks released before another starts', async () => {
    await aboutToReboot();
    await drain();
    await stage.shadows.delete(shadowName('a'), {});
    await apiserver.service.createShadow(agent);
    await stage.pass();
    expect(await stage.spec('b')).toBe('Idle');
    await stage.report('a', { ...idle, target_version: '1.0.0' });
    await stage.pass(5000);
    expect(await nodeOfA()).toEqual(UNTOUCHED);
    expect(await stage.permits()).toEqual(['brs-b']);
  });

  test('a drain that wakes after the label was taken away marks nothing', async () => {
    await aboutToReboot();
    isHeld = true;
    const asleep = refusal(drain());
    await settle();
    await stage.patch('/api/v1/nodes/a', { metadata: { labels: { [MANAGED_LABEL]: null } } });
    await stage.loseAgent('a');
    await stage.pass(60_000);
    expect(await stage.permits()).toEqual(['brs-b']);
    wake!();
    expect(await asleep).toBe('409');
    expect(await nodeOfA()).toEqual(UNTOUCHED);
  });
});

test('a drain that sleeps while its permit goes to another node wakes to a conflict', async () => {
  await aboutToReboot();
  isHeld = true;
  const asleep = refusal(drain());
  await settle();
  await stage.shadows.delete(shadowName('a'), {});
  await apiserver.service.createShadow(agent);
  await stage.report('a', { ...idle, target_version: '1.0.0' });
  await stage.pass(5000);
  expect(await stage.specs('a', 'b')).toEqual(['Idle', 'StagedAndPerformedUpdate 1.1.0']);
  wake!();
  expect(await asleep).toBe('409');
  expect(await nodeOfA()).toEqual(UNTOUCHED);
});

describe('an agent that dies for good gives its node and its permit back', () => {
  const record = { boot_id: 'boot-1', version: '1.1.0', requested_at: '2026-01-01T00:00:00Z' };
  test.each<[string, () => Promise<unknown>]>([
    ['right after the start', () => Promise.resolve()],
    ['after a drain whose end it never reported', drain],
    [
      'after its failure was told',
      async () => {
        await drain();
        await stage.report('a', { current_state: 'ErrorReset', crash_count: 1, failed_versions: [] });
      },
    ],
    [
      'between the record of its reboot and the reboot',
      async () => {
        await drain();
        await stage.report('a', { reboot: record });
      },
    ],
    [
      'after the reboot and the release',
      async () => {
        await stage.report('a', { reboot: record });
        await stage.patch('/api/v1/nodes/a/status', { status: { nodeInfo: { bootID: 'boot-2' } } });
      },
    ],
  ])('%s', async (_name, happens) => {
    await aboutToReboot();
    await happens();
    await stage.loseAgent('a');
    await stage.pass(890_000);
    expect(await stage.spec('b')).toBe('Idle');
    await stage.pass(30_000);
    expect(await nodeOfA()).toEqual(UNTOUCHED);
    expect(await stage.permits()).toEqual(['brs-b']);
    expect(await refusal(drain())).toBe('409');
  });

  test('once its shadow is gone too', async () => {
    await aboutToReboot();
    await drain();
    await stage.shadows.delete(shadowName('a'), {});
    await stage.pass();
    await stage.loseAgent('a');
    await stage.pass(5000);
    expect(await nodeOfA()).toEqual(UNTOUCHED);
    expect(await stage.permits()).toEqual(['brs-b']);
  });
});

test('a label that is taken away between the drain and the reboot leaves the node alone until its host could have gone down', async () => {
  await aboutToReboot();
  await drain();
  await stage.patch('/api/v1/nodes/a', { metadata: { labels: { [MANAGED_LABEL]: null } } });
  await stage.pass(60_000);
  await stage.loseAgent('a');
  await stage.pass(60_000);
  expect(await nodeOfA()).toEqual({ cordoned: true, marked: true });
  expect(await stage.permits()).toEqual(['brs-a']);
  await stage.pass(15 * 60_000);
  expect(await stage.shadows.get(shadowName('a'))).toBeUndefined();
  expect(await nodeOfA()).toEqual(UNTOUCHED);
  expect(await stage.permits()).toEqual(['brs-b']);
});

test('a release that is halted while nodes are staged drains none of them, and they start again once it is not', async () => {
  const nodes = Array.from({ length: 10 }, (_, index) => `n${index}`);
  const [bad, worse, ...staged] = nodes as [string, string, ...string[]];
  const fleet = await Stage.withoutConditions('done', ...nodes);
  await fleet.report('done', { current_version: '1.1.0' });
  fleet.start({ env: { MAX_CONCURRENT_UPDATE: 'unlimited', MAX_FAILED_UPDATE: '2', PROOF_NODES: '1' } });
  await fleet.pass();
  for (const name of [bad, worse]) {
    const failed = {
      state: 'RebootedIntoUpdate',
      reason: 'BootFailed',
      message: '',
      time: '2026-01-01T00:00:01Z',
    } as const;
    const failure = { last_failure: failed, state_transition_failure_timestamp: failed.time };
    await fleet.report(name, { ...failure, current_state: 'ErrorReset', crash_count: 1, failed_versions: ['1.1.0'] });
  }
  await fleet.pass();
  for (const name of staged) await fleet.report(name, { current_state: 'StagedAndPerformedUpdate' });
  await fleet.pass();
  expect(new Set(await fleet.specs(...staged))).toEqual(new Set(['Idle 1.1.0']));
  for (const name of nodes) await fleet.report(name, { current_state: 'Idle' });
  await fleet.pass(5000);
  expect(await fleet.permits()).toEqual([]);
  expect(await fleet.events()).toContain('UpdateCalledOff');
  await fleet.report(bad, { current_version: '1.1.0' });
  await fleet.pass(920_000);
  expect(new Set(await fleet.specs(...staged))).toEqual(new Set(['StagedAndPerformedUpdate 1.1.0']));
  await fleet.end();
});
