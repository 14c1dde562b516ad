import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './documents.ts';
import { folder } from './folder.ts';

const PASSED = { numPassedTests: 3, numFailedTests: 0, numRuntimeErrorTestSuites: 0 };

function tally(unit: object | undefined, e2e: string | undefined): [number | null, string] {
  if (unit) writeFileSync(join(folder, 'unit.json'), JSON.stringify(unit));
  if (e2e !== undefined) writeFileSync(join(folder, 'e2e.txt'), e2e);
  const { status, stdout } = spawnSync('node', [join(ROOT, '.ci/tally.mjs'), folder, 'unit', 'e2e'], {
    encoding: 'utf8',
  });
  return [status, stdout];
}

test.each([
  ['all that passed', PASSED, 'a file\n2 passed, 0 failed\n', 0, '5 passed, 0 failed\n'],
  ['what failed', { ...PASSED, numFailedTests: 1 }, '2 passed, 0 failed\n', 1, '5 passed, 1 failed\n'],
  [
    'a file that no test came out of',
    { ...PASSED, numRuntimeErrorTestSuites: 1 },
    '2 passed, 0 failed',
    1,
    '5 passed, 1 failed\n',
  ],
  [
    'a suite of which nothing passed',
    { ...PASSED, numPassedTests: 0 },
    '2 passed, 0 failed\n',
    1,
    '2 passed, 0 failed\n',
  ],
  ['a suite that never ran', undefined, '2 passed, 0 failed\n', 1, '2 passed, 0 failed\n'],
  ['a suite that says nothing of itself', PASSED, 'all is well\n', 1, '3 passed, 0 failed\n'],
])('the last line of CI counts %s', (_, unit, e2e, code, line) => {
  expect(tally(unit, e2e)).toEqual([code, line]);
});
