import { afterEach, describe, expect, test } from '@jest/globals';
import type { KubeRequest } from '../../runtime/kube/transport.ts';
import type { Spec, Status } from '../../runtime/api/shadow/model.ts';
import { shadowName } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';
import { intercepted } from './transports.ts';

/**
 * Upstream's parts on an upstream CRD: agents that know of five fields of the status, write no reboot record and no failed version, and
 * activate as they prepare.
 */
let stage: Stage;
afterEach(() => stage.end());

/** What an upstream agent does next: it goes where spec says, one state after the other, and rests before it reports anything else. */
async function moveAgent(name: string): Promise<void> {
  const { spec, status } = (await stage.shadows.get(shadowName(name)))!;
  if (!status || spec.state === status.current_state) return;
  const rebooted = spec.state === 'RebootedIntoUpdate' && { current_version: '1.1.0' };
  const done = spec.state === 'Idle' && status.current_version === '1.1.0' && { crash_count: 0 };
  await stage.report(name, { current_state: spec.state, ...rebooted, ...done });
}

async function active(): Promise<number> {
  const shadows = await stage.shadows.list();
  return shadows.filter(({ spec, status }) => status && (status.current_state !== 'Idle' || spec.state !== 'Idle'))
    .length;
}

/** Lets everybody act until the fleet is done; at most one node at a time. */
async function rollOver(...names: readonly string[]): Promise<void> {
  for (let round = 0; round < 40; round++) {
    await stage.pass();
    expect(await active()).toBeLessThanOrEqual(1);
    for (const name of names) await moveAgent(name);
    expect(await active()).toBeLessThanOrEqual(1);
  }
  const versions = (await stage.shadows.list()).map(({ spec, status }) => `${status?.current_version} ${spec.state}`);
  expect(versions).toEqual(names.map(() => '1.1.0 Idle'));
  expect(await stage.permits()).toEqual([]);
}

test('a fleet of upstream agents is rolled over, and the missing field is asked for once', async () => {
  stage = await Stage.upstream('a', 'b', 'c');
  let conditions = 0;
  const asks = ({ body }: KubeRequest): boolean =>
    (body as { status?: { conditions?: unknown } } | undefined)?.status?.conditions !== undefined;
  const transport = intercepted(stage.transport, (request, go) => {
    if (asks(request)) conditions += 1;
    return go();
  });
  stage.start({ transport });
  await rollOver('a', 'b', 'c');
  expect(conditions).toBe(1);
  expect(await stage.events()).toContain('UpdateFinished');
});

test('a failure that nobody can put down to anything counts against the release', async () => {
  stage = await Stage.upstream('a', 'b');
  stage.start({ env: { MAX_FAILED_UPDATE: '1' } });
  await stage.pass();
  await stage.report('a', {
    current_state: 'ErrorReset',
    crash_count: 1,
    state_transition_failure_timestamp: '2026-01-01T00:00:01Z',
  });
  await stage.pass();
  expect(await stage.specs('a', 'b')).toEqual(['Idle 1.1.0', 'Idle']);
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass(60_000);
  expect(await stage.specs('a', 'b')).toEqual(['Idle 1.1.0', 'Idle']);
  await stage.pass(120_000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
});

describe('a rollout that an upstream controller left', () => {
  const at = (state: Spec['state']): Spec => ({ state, version: '1.1.0' });
  const updated = { current_version: '1.1.0' };
  test.each<[string, Spec, Partial<Status>]>([
    ['just begun', at('StagedAndPerformedUpdate'), {}],
    ['staged', at('StagedAndPerformedUpdate'), { current_state: 'StagedAndPerformedUpdate' }],
    ['in its reboot', at('RebootedIntoUpdate'), { current_state: 'StagedAndPerformedUpdate' }],
    ['rebooted', at('RebootedIntoUpdate'), { current_state: 'RebootedIntoUpdate', ...updated }],
    ['about to be monitored', at('MonitoringUpdate'), { current_state: 'RebootedIntoUpdate', ...updated }],
    ['monitored', at('MonitoringUpdate'), { current_state: 'MonitoringUpdate', ...updated }],
    ['about to rest', at('Idle'), { current_state: 'MonitoringUpdate', ...updated }],
    ['failed', at('StagedAndPerformedUpdate'), { current_state: 'ErrorReset', crash_count: 1 }],
  ])('with a node that is %s goes on where it stood', async (_name, spec, status) => {
    stage = await Stage.upstream('a', 'b');
    await stage.shadows.patch(shadowName('b'), { spec });
    await stage.report('b', status);
    stage.start();
    await rollOver('a', 'b');
  });
});
