import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCode, jestArguments, parseRun, type Result, selected, summary } from './runner.ts';

const passed = (numPassedTests: number): Result => ({ success: true, numPassedTests, numFailedTests: 0 });
const failed = (numPassedTests: number, numFailedTests: number): Result => ({
  success: false,
  numPassedTests,
  numFailedTests,
});
const results = (...all: readonly (Result | undefined)[]): Map<string, Result | undefined> =>
  new Map(all.map((result, index) => [`${index}.e2e.ts`, result]));

test.each([
  [[], { kind: 'run', jobs: 2, patterns: [] }],
  [['--jobs', '1', 'kills', 'roll'], { kind: 'run', jobs: 1, patterns: ['kills', 'roll'] }],
  [['--help'], { kind: 'help' }],
  [['--jobs', '0'], { kind: 'wrong', fault: '--jobs: expected a whole number from 1 to 9, got 0' }],
  [['--all'], { kind: 'wrong', fault: expect.stringContaining("'--all'") }],
])('%j', (args, run) => {
  expect(parseRun(args, { jobs: 2 })).toEqual(run);
});

test('a pattern is a part of a name; what is known to take longest comes first, then the largest file', () => {
  const files = [
    { name: 'kills.e2e.ts', bytes: 1000 },
    { name: 'rollout.e2e.ts', bytes: 2000 },
    { name: 'drain.e2e.ts', bytes: 500 },
    { name: 'upheaval.e2e.ts', bytes: 100 },
  ];
  expect(selected(files, [])[0]).toBe('rollout.e2e.ts');
  expect(selected(files, [], ['upheaval', 'drain'])).toEqual([
    'upheaval.e2e.ts',
    'drain.e2e.ts',
    'rollout.e2e.ts',
    'kills.e2e.ts',
  ]);
  expect(selected(files, ['kill', 'nothing'], ['upheaval'])).toEqual(['kills.e2e.ts']);
});

test('a scenario that fails while it waits does not keep its file from ending', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'brupop-runner-'));
  const report = join(dir, 'report.json');
  const waiting = 'for (;;) await new Promise((resolve) => setTimeout(resolve, 50));';
  await writeFile(join(dir, 'waits.e2e.js'), `test('waits', async () => { ${waiting} }, 100);`);
  const options = ['--rootDir', dir, '--config', '{"transform":{}}', ...jestArguments('waits.e2e.js', report)];
  const child = spawn('jest', options, { stdio: 'ignore' });
  try {
    await once(child, 'exit');
    expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({ success: false, numFailedTests: 1 });
  } finally {
    child.kill('SIGKILL');
    await rm(dir, { recursive: true, force: true });
  }
});

describe('the end', () => {
  test('counts the tests of all files', () => {
    expect(summary(results(passed(3), failed(2, 1)))).toBe('5 passed, 1 failed');
    expect(exitCode(results(passed(3), passed(1)), false)).toBe(0);
    expect(exitCode(results(passed(3), failed(2, 1)), false)).toBe(1);
  });

  test('counts a file that could not be run, or came to no end, as a failure', () => {
    expect(summary(results(failed(0, 0), undefined))).toBe('0 passed, 2 failed');
    expect(exitCode(results(passed(1), undefined), false)).toBe(1);
  });

  test('counts a file of which every test is skipped, or that has none, as a failure', () => {
    expect(summary(results(passed(2), passed(0)))).toBe('2 passed, 1 failed');
    expect(exitCode(results(passed(2), passed(0)), false)).toBe(1);
  });

  test('is no success where nothing ran, or when it was interrupted', () => {
    expect(exitCode(results(), false)).toBe(1);
    expect(exitCode(results(passed(1)), true)).toBe(130);
  });
});
