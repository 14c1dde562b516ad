import { describe, expect, test } from '@jest/globals';
import { parseOs, parseStatus } from '../../../runtime/agent/hosts/parse.ts';

const image = { arch: 'x86_64', version: '1.39.0', variant: 'aws-k8s-1.33' };
const status = {
  update_state: 'Staged',
  available_updates: ['1.39.0'],
  chosen_update: image,
  active_partition: { image: { ...image, version: '1.38.0' }, next_to_boot: true },
  staging_partition: { image, next_to_boot: false },
  most_recent_command: {
    cmd_type: 'prepare',
    cmd_status: 'Success',
    timestamp: '2026-01-01T00:00:00.123456789Z',
    exit_status: 0,
    stderr: 'a warning',
  },
};

describe('bodies of the host', () => {
  test('a status is read in full', () => {
    expect(parseStatus(JSON.stringify(status))).toEqual({
      state: 'Staged',
      available: status.available_updates,
      chosen: image,
      active: { image: { ...image, version: '1.38.0' }, nextToBoot: true },
      staging: { image, nextToBoot: false },
      lastCommand: {
        type: 'prepare',
        status: 'Success',
        timestamp: '2026-01-01T00:00:00.123456789Z',
        exit: 0,
        stderr: 'a warning',
      },
    });
  });

  test.each([
    ['Success', 'Starting update to 1.39.0\n', '1.39.0', true],
    ['Success', 'Starting update to 1.40.0\n', '1.40.0', false],
    ['Success', 'No update required\n', null, false],
    ['Success', 'a warning\nStarting update to 1.39.0\nanother', '1.39.0', true],
    ['Success', 'words of another release', undefined, true],
    ['Success', null, undefined, true],
    ['Failed', 'Starting update to 1.39.0\nno space left', '1.39.0', false],
    ['Unknown', 'words of another release', undefined, false],
  ])(
    'of a prepare that ended with %s and %j: it chose %j, and what the status says of the partition is %j',
    (end, stderr, chose, holds) => {
      const most_recent_command = { ...status.most_recent_command, cmd_status: end, stderr };
      const read = parseStatus(JSON.stringify({ ...status, most_recent_command }));
      expect([read.lastCommand?.chose, read.staging !== undefined]).toEqual([chose, holds]);
    },
  );

  test('only a prepare speaks of the partition', () => {
    const said = { cmd_type: 'refresh', cmd_status: 'Failed', stderr: 'Starting update to 1.40.0' };
    const most_recent_command = { ...status.most_recent_command, ...said };
    const read = parseStatus(JSON.stringify({ ...status, most_recent_command }));
    expect([read.lastCommand?.chose, read.staging?.image.version]).toEqual([undefined, '1.39.0']);
  });

  test('null stands for what is not there', () => {
    const empty = { update_state: 'Idle', chosen_update: null, most_recent_command: null, staging_partition: null };
    expect(parseStatus(JSON.stringify(empty))).toMatchObject({
      state: 'Idle',
      chosen: undefined,
      lastCommand: undefined,
    });
  });

  test.each([
    ['{"update_state":"Idle"', /^GET \/updates\/status: not JSON: /],
    ['['.repeat(20_000) + ']'.repeat(20_000), /^GET \/updates\/status: not JSON: /],
    ['[]', /\(whole\)/],
    ['null', /\(whole\): expected an object, got null/],
    [
      JSON.stringify({ ...status, update_state: 'Odd' }),
      /update_state: expected Idle, Available, Staged, Ready, got "Odd"/,
    ],
    [JSON.stringify({ ...status, update_state: undefined }), /update_state: .*got nothing/],
    [JSON.stringify({ ...status, chosen_update: 'x' }), /chosen_update: expected an object, got "x"/],
    [
      JSON.stringify({ ...status, most_recent_command: { ...status.most_recent_command, exit_status: 0.5 } }),
      /most_recent_command\.exit_status: expected a whole number, got 0\.5/,
    ],
    [JSON.stringify({ ...status, staging_partition: { image, next_to_boot: 1 } }), /staging_partition\.next_to_boot/],
  ])('%s is refused with the field that is wrong', (body, message) => {
    expect(() => parseStatus(body)).toThrow(message);
  });

  test('an answer of /os without a version is refused', () => {
    expect(() => parseOs('{"variant_id":"aws-k8s-1.33","arch":"x86_64"}')).toThrow(/GET \/os: version_id/);
  });
});
