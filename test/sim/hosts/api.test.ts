import { describe, expect, test } from '@jest/globals';
import { Releases } from '../../../lab/sim/hosts/releases.ts';
import { rig } from './rig.ts';

const REFRESH = 'POST /actions/refresh-updates';
const PREPARE = 'POST /actions/prepare-update';
const ACTIVATE = 'POST /actions/activate-update';
const DEACTIVATE = 'POST /actions/deactivate-update';
const NOT_ALLOWED = '409 Update action not allowed according to update state';

describe('the update API of a simulated host', () => {
  test('tells what the host runs', async () => {
    const { call } = rig();
    expect(await call('GET /os')).toBe(
      '200 {"arch":"x86_64","build_id":"4f1c02f8","pretty_name":"Bottlerocket OS 1.38.0 (aws-k8s-1.33)",' +
        '"variant_id":"aws-k8s-1.33","version_id":"1.38.0"}',
    );
  });

  test('answers an unknown path and a wrong method with an empty 404', async () => {
    const { call } = rig();
    expect(await call('GET /nothing')).toBe('404');
    expect(await call('POST /os')).toBe('404');
    expect(await call('GET /toString')).toBe('404');
  });

  test('has no status before the first refresh of a boot', async () => {
    const { call } = rig();
    expect(await call('GET /updates/status')).toBe(
      '404 Update status is uninitialized, refresh-updates to initialize it',
    );
  });

  test('answers 204 before the work is done, and 423 while it goes on', async () => {
    const { call, clock } = rig();
    expect(await call(REFRESH)).toBe('204');
    expect(await call('GET /updates/status')).toBe(
      '423 Unable to obtain shared lock for reading update status: Resource temporarily unavailable (os error 11)',
    );
    expect(await call(PREPARE)).toBe('423 Update lock held');
    await clock.advance(2999);
    expect(await call('GET /updates/status')).toMatch(/^423/);
    await clock.advance(1);
    expect(await call('GET /updates/status')).toMatch(/^200/);
  });

  test('writes every field of the status, null where there is nothing', async () => {
    const { call, clock, status } = rig();
    await call(REFRESH);
    await clock.advance(3000);
    expect(await status()).toEqual({
      update_state: 'Available',
      available_updates: ['1.39.0', '1.38.0', '1.37.0'],
      chosen_update: { arch: 'x86_64', version: '1.39.0', variant: 'aws-k8s-1.33' },
      active_partition: { image: { arch: 'x86_64', version: '1.38.0', variant: 'aws-k8s-1.33' }, next_to_boot: true },
      staging_partition: null,
      most_recent_command: {
        cmd_type: 'refresh',
        cmd_status: 'Success',
        timestamp: '2026-01-01T00:00:03.000000001Z',
        exit_status: 0,
        stderr: '',
      },
    });
  });

  test('a refused action on a fresh boot creates the status', async () => {
    const { call, status } = rig();
    expect(await call(PREPARE)).toBe(NOT_ALLOWED);
    expect(await status()).toMatchObject({
      update_state: 'Idle',
      available_updates: [],
      active_partition: { image: { version: '1.38.0' }, next_to_boot: true },
      most_recent_command: null,
    });
  });

  test.each([
    ['Idle', [], { [PREPARE]: NOT_ALLOWED, [ACTIVATE]: NOT_ALLOWED, [DEACTIVATE]: NOT_ALLOWED }],
    ['Available', [REFRESH], { [ACTIVATE]: NOT_ALLOWED, [DEACTIVATE]: NOT_ALLOWED, [PREPARE]: '204' }],
    ['Staged', [REFRESH, PREPARE], { [DEACTIVATE]: NOT_ALLOWED, [ACTIVATE]: '204' }],
    ['Staged', [REFRESH, PREPARE], { [PREPARE]: '204' }],
    ['Staged', [REFRESH, PREPARE, REFRESH], { [DEACTIVATE]: NOT_ALLOWED, [REFRESH]: '204' }],
    ['Ready', [REFRESH, PREPARE, ACTIVATE], { [PREPARE]: NOT_ALLOWED, [ACTIVATE]: NOT_ALLOWED, [DEACTIVATE]: '204' }],
    ['Ready', [REFRESH, PREPARE, ACTIVATE, REFRESH], { [PREPARE]: NOT_ALLOWED }],
    ['Staged', [REFRESH, PREPARE, ACTIVATE, DEACTIVATE], { [DEACTIVATE]: NOT_ALLOWED, [ACTIVATE]: '204' }],
  ])('in %s (after %j) it answers %j', async (state, before, answers) => {
    const { call, clock, status } = rig();
    for (const action of before) {
      expect(await call(action)).toBe('204');
      await clock.advance(30_000);
    }
    for (const [action, answer] of Object.entries(answers)) expect(await call(action)).toBe(answer);
    await clock.advance(30_000);
    if (before.length > 0 && !Object.values(answers).includes('204')) expect((await status()).update_state).toBe(state);
  });

  test('a withdrawn release is prepared with success, and is not there', async () => {
    const { call, clock, releases, status } = rig();
    await call(REFRESH);
    await clock.advance(3000);
    releases.withdraw('1.39.0');
    expect(await call(PREPARE)).toBe('204');
    await clock.advance(3000);
    expect(await status()).toMatchObject({
      update_state: 'Staged',
      staging_partition: { image: { version: '1.39.0' } },
      most_recent_command: { cmd_status: 'Success', stderr: 'No update required\n' },
    });
  });

  test('an older version is written in place of a withdrawn one, where that is what may run at most', async () => {
    const releases = new Releases(['1.39.0', '1.40.0']);
    const { call, clock, status } = rig({ releases });
    await call(REFRESH);
    await clock.advance(3000);
    releases.withdraw('1.40.0');
    await call(PREPARE);
    await clock.advance(30_000);
    expect(await status()).toMatchObject({
      staging_partition: { image: { version: '1.40.0' } },
      most_recent_command: { cmd_status: 'Success', stderr: 'Starting update to 1.39.0\n' },
    });
  });

  test('where a look after the download has chosen nothing, nothing can be prepared again', async () => {
    const { call, clock, releases } = rig();
    for (const action of [REFRESH, PREPARE]) {
      await call(action);
      await clock.advance(30_000);
    }
    releases.withdraw('1.39.0');
    await call(REFRESH);
    await clock.advance(3000);
    expect(await call(PREPARE)).toBe('404 Previously chosen Update no longer exists');
  });

  test('lists what waves and the greatest version let it have, whatever it is locked to', async () => {
    const releases = new Releases(['1.38.0']);
    releases.publish({ version: '1.39.0', maxVersion: '1.40.0' });
    releases.publish({ version: '1.40.0', waves: { 0: Date.parse('2026-02-01T00:00Z') } });
    releases.publish({ version: '1.41.0', maxVersion: '1.40.0' });
    const { driver, finish, status } = rig({ releases, settings: { seed: 7, 'version-lock': '1.41.0' } });
    await finish(driver.refresh());
    expect(await status()).toMatchObject({ available_updates: ['1.39.0', '1.38.0'], chosen_update: null });
  });

  test('a refresh keeps what is staged, whatever it chooses', async () => {
    const { call, clock, releases, status } = rig();
    for (const action of [REFRESH, PREPARE]) {
      await call(action);
      await clock.advance(30_000);
    }
    releases.publish({ version: '1.40.0' });
    await call(REFRESH);
    await clock.advance(3000);
    expect(await status()).toMatchObject({
      update_state: 'Staged',
      chosen_update: { version: '1.40.0' },
      staging_partition: { image: { version: '1.39.0' }, next_to_boot: false },
    });
  });

  test('a failed refresh falls back to Idle and keeps the old choice', async () => {
    const { call, clock, host, status } = rig();
    await call(REFRESH);
    await clock.advance(3000);
    host.inject('refresh', { uses: 1 });
    await call(REFRESH);
    await clock.advance(3000);
    expect(await status()).toMatchObject({
      update_state: 'Idle',
      chosen_update: { version: '1.39.0' },
      most_recent_command: { cmd_type: 'refresh', cmd_status: 'Failed', exit_status: 1 },
    });
  });

  test('a failed prepare has wiped the partition set, so that an activation of what was staged fails', async () => {
    const { call, clock, host, status } = rig();
    for (const action of [REFRESH, PREPARE]) {
      await call(action);
      await clock.advance(30_000);
    }
    host.inject('prepare', { uses: 1 });
    await call(PREPARE);
    await clock.advance(30_000);
    expect((await status()).update_state).toBe('Staged');
    expect(await call(ACTIVATE)).toBe('204');
    await clock.advance(3000);
    expect((await status()).most_recent_command).toMatchObject({ cmd_type: 'activate', cmd_status: 'Failed' });
  });

  test('a prepare takes what is offered at its own moment, and the status goes on to name what was chosen before', async () => {
    const { call, clock, releases, status } = rig();
    await call(REFRESH);
    await clock.advance(3000);
    releases.publish({ version: '1.40.0' });
    await call(PREPARE);
    await clock.advance(30_000);
    expect(await status()).toMatchObject({
      update_state: 'Staged',
      chosen_update: { version: '1.39.0' },
      staging_partition: { image: { version: '1.39.0' } },
      most_recent_command: { cmd_status: 'Success', stderr: 'Starting update to 1.40.0\n' },
    });
  });

  test('a prepare that finds nothing to do is a success, with the partition set as it was', async () => {
    const { call, clock, status } = rig();
    await call(REFRESH);
    await clock.advance(3000);
    await call('PATCH /settings?tx=a', '{"updates":{"version-lock":"1.38.0"}}');
    await call('POST /tx/commit_and_apply?tx=a');
    await call(PREPARE);
    await clock.advance(30_000);
    expect(await status()).toMatchObject({
      update_state: 'Staged',
      staging_partition: { image: { version: '1.39.0' } },
      most_recent_command: { cmd_status: 'Success', exit_status: 0, stderr: 'No update required\n' },
    });
    await call(ACTIVATE);
    await clock.advance(3000);
    expect((await status()).most_recent_command).toMatchObject({ cmd_type: 'activate', cmd_status: 'Failed' });
  });

  test('serves calls one after the other', async () => {
    const { call, clock, host } = rig();
    host.inject('slow');
    const order: string[] = [];
    const first = call('GET /os').then(() => order.push('first'));
    const second = call('GET /settings?prefix=updates').then(() => order.push('second'));
    await clock.advance(2000);
    expect(order).toEqual(['first']);
    await clock.advance(2000);
    expect(order).toEqual(['first', 'second']);
    await Promise.all([first, second]);
  });

  test('counts the calls', async () => {
    const { call, host } = rig();
    await call('GET /os');
    await call('GET /os');
    await call('GET /settings?prefix=updates');
    expect([...host.requests]).toEqual([
      ['GET /os', 2],
      ['GET /settings', 1],
    ]);
  });
});
