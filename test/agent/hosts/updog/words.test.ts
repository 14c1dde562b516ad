import { describe, expect, test } from '@jest/globals';
import type { Ended } from '../../../../runtime/agent/hosts/programs.ts';
import { choiceIn, isNothing, offerIn, osIn, otherSetIn } from '../../../../runtime/agent/hosts/updog/words.ts';

const ended = (given: Partial<Ended>): Ended => ({ exit: 0, overdue: false, stdout: '', stderr: '', ...given });

const UPDATE = `{
  "variant": "aws-k8s-1.17",
  "arch": "x86_64",
  "version": "0.4.1",
  "max_version": "0.4.1",
  "waves": { "0": "2020-07-14T00:00:00Z" },
  "images": { "boot": "b.lz4", "root": "r.lz4", "hash": "h.lz4" }
}
`;
const IMAGE = { variant: 'aws-k8s-1.17', arch: 'x86_64', version: '0.4.1' };

describe('updog check-update', () => {
  test.each([
    ['an update', { stdout: UPDATE }, IMAGE],
    ['an update, after lines of its log', { stdout: `12:00:00 [INFO] {migrating}\n${UPDATE}` }, IMAGE],
    ['none', { exit: 1, stderr: 'No update available\n' }, undefined],
    ['one of a later wave', { exit: 1, stderr: 'Update 0.4.1 exists but wave in the future\n' }, undefined],
    ['none, as 0.2 did: a success without a word', {}, undefined],
  ])('tells of %s', (_, output, offer) => expect(offerIn(ended(output))).toEqual(offer));

  test.each(['aws-k8s-1.17 0.4.1\n', UPDATE.slice(0, 60), '{"version":7}', '[]', '{}'])(
    'output without a meaning is not taken for an update or for none: %j',
    (stdout) => expect(() => offerIn(ended({ stdout }))).toThrow('expected an update'),
  );

  test('a failure is not taken for none', () => {
    expect(isNothing('Failed to load the repository: no route to host')).toBe(false);
    expect(isNothing('12:00:00 [ERROR] x\nNo update available\n')).toBe(true);
  });
});

test.each([
  ['what it began to write', { stderr: 'Starting update to 0.4.1\nFailed\n', exit: 1 }, '0.4.1'],
  ['what it wrote', { stdout: 'Update applied: aws-k8s-1.17 0.4.1\n' }, '0.4.1'],
  ['that it wrote nothing, with a success', { stderr: 'No update required\n' }, null],
  [
    'that the wave is later, with a success',
    { stderr: 'Update available in later wave\n', stdout: '2020-07-14' },
    null,
  ],
  ['nothing', { stdout: 'Done\n' }, undefined],
] as const)('updog update-image says %s', (_, output, choice) => expect(choiceIn(ended(output))).toBe(choice));

describe('signpost status', () => {
  const table = (a: string, b: string, active = 'A'): Ended =>
    ended({
      stdout: `OS disk: /dev/nvme0n1
Set A:   boot=/dev/nvme0n1p2 root=/dev/nvme0n1p3 hash=/dev/nvme0n1p4 ${a}
Set B:   boot=/dev/nvme0n1p6 root=/dev/nvme0n1p7 hash=/dev/nvme0n1p8 ${b}
Active:  Set ${active}
Next:    Set A
`,
    });
  const runs = 'priority=2 tries_left=0 successful=true';

  test.each([
    ['an empty one', table(runs, 'priority=0 tries_left=0 successful=false'), 'other'],
    ['one that was written', table(runs, 'priority=0 tries_left=1 successful=false'), 'written'],
    [
      'one that boots next',
      table('priority=1 tries_left=0 successful=true', 'priority=2 tries_left=1 successful=false'),
      'activated',
    ],
    ['one that did not boot', table(runs, 'priority=2 tries_left=0 successful=false'), 'other'],
    // The new system has not declared its boot a success yet, and the old one is what the host falls back to.
    ['the system before, right after an update', table(runs, 'priority=2 tries_left=0 successful=false', 'B'), 'other'],
  ])('tells of %s', (_, output, state) => expect(otherSetIn(output)).toBe(state));

  test.each(['', 'Set A:   boot=/dev/nvme0n1p2', table(runs, runs, 'C').stdout, 'Active:  Set A\n'])(
    'half a table says nothing: %j',
    (stdout) => expect(() => otherSetIn(ended({ stdout }))).toThrow('expected two sets'),
  );
});

test("the running system is what os-release says, with or without quotes, of this machine's architecture", () => {
  const text = 'NAME=Bottlerocket\nVERSION="0.4.0 (aws-k8s-1.17)"\nVARIANT_ID=aws-k8s-1.17\nVERSION_ID="0.4.0"\n';
  expect(osIn(text, 'arm64')).toEqual({ version: '0.4.0', variant: 'aws-k8s-1.17', arch: 'aarch64' });
  expect(() => osIn('VERSION_ID=0.4.0\n', 'x64')).toThrow('expected VARIANT_ID');
  // An empty or torn value is no version: reported, it would be refused for ever.
  for (const value of ['""', '"0.4.0', '0.4.0 beta'])
    expect(() => osIn(`VARIANT_ID=a\nVERSION_ID=${value}\n`, 'x64')).toThrow('expected VERSION_ID');
});
