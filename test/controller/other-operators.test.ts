import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { shadowsOf } from '../../runtime/api/resources.ts';
import { API_VERSION, KIND, NAMESPACE, PAUSED_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';

/** Beside another operator two agents share one host, and two controllers keep a budget each. */

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a');
  await stage.create('/api/v1/namespaces', { metadata: { name: 'node-updates' } });
});
afterEach(() => stage.end());

const others = () => shadowsOf(stage.transport, 'node-updates');
const leave = () =>
  others().create({ apiVersion: API_VERSION, kind: KIND, metadata: { name: 'brs-a' }, spec: { state: 'Idle' } });

test('nothing starts while another namespace has shadows, and people are told once, until they are gone', async () => {
  await leave();
  const controller = stage.start();
  await stage.pass(60_000);
  expect(await stage.spec('a')).toBe('Idle');
  expect(controller.preview().verdicts).toMatchObject([
    { reason: 'OtherOperator', message: expect.stringContaining('node-updates') },
  ]);
  expect((await stage.told()).filter(({ reason }) => reason === 'OtherOperator')).toMatchObject([{ count: 1 }]);
  await others().delete('brs-a', {});
  await stage.pass(60_000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
});

test('nothing starts beside one that came since the last look', async () => {
  const pause = (paused: string | null) =>
    stage.patch(`/api/v1/namespaces/${NAMESPACE}`, { metadata: { annotations: { [PAUSED_ANNOTATION]: paused } } });
  await pause('');
  stage.start();
  await stage.pass(10_000);
  await leave();
  await pause(null);
  await stage.pass(10_000);
  expect(await stage.spec('a')).toBe('Idle');
});

test('one that comes later keeps what is staged in service', async () => {
  stage.start();
  await stage.pass(10_000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
  await leave();
  await stage.pass(660_000);
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass(10_000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
});

test('updates go on where people have said that both are meant', async () => {
  await leave();
  stage.start({ env: { OTHER_OPERATORS: 'ignore' } });
  await stage.pass(10_000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
});
