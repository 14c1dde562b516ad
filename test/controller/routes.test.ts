import { afterEach, expect, test } from '@jest/globals';
import { UnreachableError } from '../../runtime/kube/errors.ts';
import { routesOf } from '../../runtime/controller/manager.ts';
import { Stage } from './stage.ts';
import { intercepted } from './transports.ts';

let stage: Stage;
afterEach(() => stage.end());

const serve = (
  options: Parameters<Stage['start']>[0] = {},
): ((path: string) => Promise<{ status: number; body: string }>) => {
  const routes = routesOf(stage.start(options));
  return async (path) => routes[path]!();
};

test('ready means that the cluster is known, leading or not', async () => {
  stage = await Stage.with('a');
  const [first, second] = [serve(), serve()];
  expect((await first('/readyz')).status).toBe(503);
  expect((await first('/healthz')).status).toBe(200);
  await stage.pass();
  expect([(await first('/readyz')).status, (await second('/readyz')).status]).toEqual([200, 200]);
  expect(JSON.parse((await first('/plan')).body)).toMatchObject({ leading: true });
  expect(JSON.parse((await second('/plan')).body)).toMatchObject({ leading: false });
});

test('the plan names the verdict on each node, and the permits', async () => {
  stage = await Stage.with('a', 'b');
  const get = serve();
  await stage.pass();
  expect(JSON.parse((await get('/plan')).body)).toMatchObject({
    slots: [{ shadow: 'brs-a' }],
    verdicts: [
      { node: 'a', reason: 'Updating', step: 'StagedAndPerformedUpdate' },
      { node: 'b', reason: 'WaitingForSlot', position: 1 },
    ],
  });
});

test('a process that stands by shows the permits of the one that leads, and names it', async () => {
  stage = await Stage.with('a', 'b');
  const [leader, standby] = [serve(), serve()];
  await stage.pass(10_000);
  const [led, seen] = [JSON.parse((await leader('/plan')).body), JSON.parse((await standby('/plan')).body)];
  expect([led.leader, seen.leader]).toEqual(['controller-1', 'controller-1']);
  expect(seen.slots).toEqual(led.slots);
  expect(seen.verdicts).toEqual(led.verdicts);
  expect((await standby('/metrics')).body).toContain('brupop_controller_slots 1');
});

test('a process that stands by knows since when an agent is gone, whether anybody has asked it or not', async () => {
  stage = await Stage.with('a', 'b');
  serve();
  await stage.pass();
  const standby = serve();
  await stage.pass();
  await stage.loseAgent('a');
  await stage.pass(16 * 60_000);
  expect(JSON.parse((await standby('/plan')).body)).toMatchObject({
    verdicts: [{ node: 'a', reason: 'AgentSilent' }, {}],
  });
});

test('while nobody leads, no leader is named', async () => {
  stage = await Stage.with('a');
  const get = serve();
  expect(JSON.parse((await get('/plan')).body)).not.toHaveProperty('leader');
});

test('a series that empties goes to 0 and stays', async () => {
  stage = await Stage.with('a');
  const get = serve();
  await stage.pass();
  expect((await get('/metrics')).body).toContain('brupop_hosts_version{bottlerocket_version="1.0.0"} 1');
  await stage.update('a');
  const { body } = await get('/metrics');
  expect(body).toContain('brupop_hosts_version{bottlerocket_version="1.0.0"} 0');
  expect(body).toContain('brupop_hosts_version{bottlerocket_version="1.1.0"} 1');
  expect(body).toContain('brupop_hosts_state{state="Idle"} 1');
  expect(body).toContain('brupop_controller_verdicts{reason="UpToDate"} 1');
  expect(body).toContain('brupop_controller_leader 1');
});

test('conditions come at most ten a second, after what moves updates on', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
  stage = await Stage.with(...names);
  serve();
  await stage.pass(2000);
  const written = async (): Promise<number> =>
    (await stage.shadows.list()).filter(({ status }) => status?.conditions).length;
  expect(await written()).toBeLessThanOrEqual(11);
  await stage.pass(3000);
  expect(await written()).toBe(30);
});

test.each<[string, (stage: Stage) => Promise<unknown>]>([
  ['never comes', (on) => on.shadows.delete('brs-a', {})],
  ['is gone before its first report', (on) => on.shadows.patchStatus('brs-a', { status: null })],
])('an agent that %s is missed, once', async (_what, begin) => {
  stage = await Stage.with('a');
  await begin(stage);
  await stage.loseAgent('a');
  serve();
  await stage.pass(890_000);
  expect(await stage.events()).toEqual([]);
  await stage.pass(120_000);
  expect(await stage.events()).toEqual(['AgentMissing']);
});

test('updates are counted by how they ended, and timed by step', async () => {
  stage = await Stage.with('a', 'b');
  const get = serve();
  await stage.pass();
  await stage.update('a');
  await stage.report('b', { current_state: 'ErrorReset', crash_count: 1, failed_versions: ['1.1.0'] });
  await stage.pass();
  const { body } = await get('/metrics');
  expect(body).toContain('brupop_controller_updates_total{result="succeeded"} 1');
  expect(body).toContain('brupop_controller_updates_total{result="failed"} 1');
  expect(body).toContain('brupop_controller_updates_total{result="rescued"} 0');
  expect(body).toContain('brupop_controller_step_duration_seconds_count{step="MonitoringUpdate"} 1');
  expect(body).toContain('brupop_controller_step_duration_seconds_count{step="Update"} 1');
});

test('a release that is halted, those that wait, and failing requests are numbers too', async () => {
  stage = await Stage.with('a', 'b', 'c');
  let isOut = false;
  const transport = intercepted(stage.transport, (_request, go) =>
    isOut ? Promise.reject(new UnreachableError('out')) : go(),
  );
  const get = serve({ transport, env: { MAX_FAILED_UPDATE: '1' } });
  await stage.pass();
  expect((await get('/metrics')).body).toContain('brupop_controller_queue_length 2');
  await stage.report('a', { current_state: 'ErrorReset', crash_count: 1, failed_versions: ['1.1.0'] });
  isOut = true;
  await stage.pass(5000);
  const { body } = await get('/metrics');
  expect(body).toContain('brupop_controller_halted_releases 1');
  expect(body).toMatch(/brupop_controller_api_errors_total\{code="unreachable"\} [1-9]/);
  expect(JSON.parse((await get('/plan')).body)).toMatchObject({ halted: [{ version: '1.1.0', failures: 1 }] });
});

test('an offer that the host no longer makes ends an update without a failure: counted by itself, and told without a warning', async () => {
  stage = await Stage.with('a', 'b');
  const get = serve();
  await stage.pass();
  const last_failure = {
    state: 'StagedAndPerformedUpdate',
    reason: 'TargetChanged',
    message: '1.1.0 is wanted, but the host offers 1.2.0',
    version: '1.1.0',
    time: '2026-01-01T00:00:02Z',
  } as const;
  await stage.report('a', { current_state: 'ErrorReset', target_version: '1.2.0', last_failure });
  await stage.pass();
  const { body } = await get('/metrics');
  expect(body).toContain('brupop_controller_updates_total{result="cancelled"} 1');
  expect(body).toContain('brupop_controller_updates_total{result="failed"} 0');
  const told = await stage.told();
  expect(told.filter(({ type }) => type === 'Warning')).toEqual([]);
  expect(told).toContainEqual(
    expect.objectContaining({ reason: 'UpdateCancelled', message: `update to 1.1.0 ended: ${last_failure.message}` }),
  );
});
