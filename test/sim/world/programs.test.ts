import { expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../../runtime/kube/objects.ts';
import { VirtualClock } from '../../../sim/clock.ts';
import { childProcess, podProgram, type RunningProgram, stopProgram } from '../../../sim/world/programs.ts';
import { folder } from '../../folder.ts';

/** A program that ends when the test says so. */
class Fake implements RunningProgram {
  readonly ended: Promise<void>;
  readonly asked: string[] = [];
  end!: () => void;
  constructor() {
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }
  terminate(): void {
    this.asked.push('terminate');
  }
  kill(): void {
    this.asked.push('kill');
    this.end();
  }
}

test('a program that does not end when asked is killed after its grace', async () => {
  const clock = new VirtualClock();
  const program = new Fake();
  const stopped = stopProgram(program, 1000, clock);
  await clock.advance(999);
  expect(program.asked).toEqual(['terminate']);
  await clock.advance(1);
  expect(program.asked).toEqual(['terminate', 'kill']);
  await stopped;
});

test('a program that ends when asked is left in peace', async () => {
  const clock = new VirtualClock();
  const program = new Fake();
  const stopped = stopProgram(program, 1000, clock);
  program.end();
  await stopped;
  await clock.advance(2000);
  expect(program.asked).toEqual(['terminate']);
});

test('a real program gets its environment, is logged, and ends when asked', async () => {
  const file = join(folder, 'program.mjs');
  const log = join(folder, 'log');
  writeFileSync(
    file,
    `console.log('hello', process.env.NAME); process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000);`,
  );
  const changes = watch(folder);
  const program = childProcess(process.execPath, file)({ NAME: 'n1' }, log);
  for await (const _ of changes) if (logged(log)) break;
  program.terminate();
  await program.ended;
  expect(logged(log)).toBe('hello n1\n');
});

function podOf(...command: readonly string[]): Pod {
  const spec = { containers: [{ name: 'main', command }] };
  return { metadata: { name: 'p', uid: 'u', resourceVersion: '1' }, spec } as unknown as Pod;
}

test("a pod's program runs under the flags of Node that its command states", async () => {
  writeFileSync(join(folder, 'program.mjs'), `console.log(process.execArgv.at(-1), ...process.argv.slice(2));`);
  const log = join(folder, 'log');
  const pod = podOf('node', '--max-semi-space-size=1', '/opt/brupop/program.mjs', 'now');
  await podProgram(pod, folder)?.({}, log).ended;
  expect(logged(log)).toBe('--max-semi-space-size=1 now\n');
});

test('no program stands behind a pod of another image', () => {
  expect(podProgram(podOf('node', '/srv/program.mjs'), folder)).toBeUndefined();
  expect(podProgram(podOf(), folder)).toBeUndefined();
});

function logged(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
