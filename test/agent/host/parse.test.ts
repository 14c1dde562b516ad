import { describe, expect, test } from '@jest/globals';
import { parseOs, parseStatus } from '../../../runtime/agent/host/parse.ts';

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
