import { afterEach, describe, expect, test } from '@jest/globals';
import { routesOf } from '../../runtime/controller/routes.ts';
import type { Manager } from '../../runtime/controller/manager.ts';
import { Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.end());

const REASONS = new Set(['NotReturned', 'SoakFailed', 'ProgressDeadlineExceeded']);
const told = async (): Promise<readonly string[]> => (await stage.events()).filter((reason) => REASONS.has(reason));
const counted = async (controller: Manager, reason: string): Promise<string | undefined> => {
  const { body } = await routesOf(controller)['/metrics']!();
  return new RegExp(`^brupop_controller_setbacks_total{reason="${reason}"} (.*)$`, 'm').exec(body)?.[1];
};

/** Up to where the node is down since it was asked to reboot. */
async function reboot(node: string): Promise<void> {
  await stage.pass();
  await stage.askForReboot(node);
  await stage.setReady(node, false);
}

/** A process that leads until it is told to end. */
function leader(): { controller: Manager; end: () => Promise<void> } {
  const stop = new AbortController();
  const controller = stage.start({ signal: stop.signal });
  const end = async (): Promise<void> => {
    stop.abort();
    await stage.pass(5000);
  };
  return { controller, end };
}

describe.each([
  ['that keeps conditions', () => Stage.with('a', 'b')],
  ['of an older installation', () => Stage.upstream('a', 'b')],
])('on a CRD %s', (_crd, build) => {
  test('a node that does not return is told and counted once, by whichever process', async () => {
    stage = await build();
    const first = leader();
    await reboot('a');
    await stage.pass(890_000);
    expect([await told(), await counted(first.controller, 'NotReturned')]).toEqual([[], '0']);
    await stage.pass(120_000);
    expect([await told(), await counted(first.controller, 'NotReturned')]).toEqual([['NotReturned'], '1']);
    await stage.pass(600_000);
    await first.end();
    stage.start();
    await stage.pass(1_000_000);
    expect((await told()).filter((reason) => reason === 'NotReturned')).toHaveLength(1);
  });
});

test('the process that follows does not count it again where the condition says that it is known', async () => {
  stage = await Stage.with('a', 'b');
  const first = leader();
  await reboot('a');
  await stage.pass(1_000_000);
  await first.end();
  const second = stage.start();
  await stage.pass(120_000);
  expect(await counted(second, 'NotReturned')).toBe('0');
});

test('a node that does not stay Ready after its update is told each time', async () => {
  stage = await Stage.with('a', 'b');
  const controller = stage.start({ env: { MONITORING_TIME_IN_SEC: '60' } });
  await stage.pass();
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' });
  await stage.pass();
  await stage.report('a', { current_state: 'MonitoringUpdate' });
  for (const times of [1, 2]) {
    await stage.setReady('a', false);
    await stage.pass(1_000_000);
    expect(await told()).toHaveLength(times);
    expect(await counted(controller, 'SoakFailed')).toBe(String(times));
    await stage.setReady('a', true);
    await stage.pass(30_000);
  }
});

test('a node that dies while it stages is told once, however long it stays so', async () => {
  stage = await Stage.with('a', 'b');
  const controller = stage.start();
  await stage.pass();
  await stage.setReady('a', false);
  await stage.loseAgent('a');
  await stage.pass(960_000);
  await stage.pass(4 * 3_600_000);
  expect([await told(), await counted(controller, 'ProgressDeadlineExceeded')]).toEqual([
    ['ProgressDeadlineExceeded'],
    '1',
  ]);
  expect((await stage.shadows.get('brs-a'))!.status?.conditions).toMatchObject([
    { reason: 'ProgressDeadlineExceeded', message: expect.stringMatching(/not Ready since 2026-01-01T00:00:01Z/) },
  ]);
  expect(await stage.slots()).toEqual(['brs-a']);
});
