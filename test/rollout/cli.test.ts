import { describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { folder } from '../folder.ts';
import { until } from '../in-time.ts';

/** `npm start` as a user runs it, from its arguments to its exit code and what it leaves behind. */

const PROGRAM = fileURLToPath(new URL('../../build/sim.mjs', import.meta.url));
const QUICK = ['--nodes', '1', '--speed', '50'];
/** There is nothing on the path that could open one. */
const NO_BROWSER = { PATH: folder };

class Run {
  readonly child: ChildProcess;
  output = '';
  readonly #closed: Promise<unknown>;
  readonly #waiting = new Set<() => void>();

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.child = spawn(process.execPath, [PROGRAM, ...args], {
      env: { ...process.env, TMPDIR: folder, NODE_OPTIONS: '', ...env },
    });
    this.#closed = once(this.child, 'close');
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (data) => {
        this.output += String(data);
        for (const look of this.#waiting) look();
      });
    }
  }

  async exitCode(): Promise<number | null> {
    await this.#closed;
    return this.child.exitCode;
  }

  /** Resolves once the program has said `text`; throws when it ends without. */
  async said(text: string): Promise<void> {
    const said = new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.output.includes(text)) resolve();
      };
      this.#waiting.add(look);
      look();
    });
    await Promise.race([said, this.#closed]);
    if (this.output.includes(text)) return;
    throw new Error(`expected it to say "${text}", but it ended with ${this.child.exitCode}: ${this.output}`);
  }
}

/** Processes of this machine that were started with our temporary folder. */
function leftovers(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => environment(pid).includes(folder));
}

function environment(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

test('two at once do not disturb each other, and leave nothing: one with a planted fault names it, one with --keep stays until Ctrl-C', async () => {
  const runs = [new Run([...QUICK, '--keep']), new Run([...QUICK, '--fail', 'node-1=boot'])];
  await runs[0]!.said('The cluster stays up');
  runs[0]!.child.kill('SIGINT');
  // The result decides it, also of what was kept.
  expect(await Promise.all(runs.map((run) => run.exitCode()))).toEqual([0, 1]);
  expect(runs[0]!.output).toContain('1 of 1 nodes run 1.39.0');
  expect(runs[1]!.output).toMatch(/FAULT: node-1 runs 1\.38\.0, not 1\.39\.0: BootFailed/);
  expect(readdirSync(folder)).toEqual([]);
  expect(leftovers()).toEqual([]);
});

test('Ctrl-C in mid-rollout ends every process and removes every file', async () => {
  const run = new Run(['--nodes', '1', '--speed', '5', '--dashboard'], NO_BROWSER);
  await run.said('staging');
  expect(leftovers().length).toBeGreaterThan(1);
  run.child.kill('SIGINT');
  expect(await run.exitCode()).toBe(1);
  expect(run.output).toContain('interrupted before the end');
  expect(readdirSync(folder)).toEqual([]);
  expect(leftovers()).toEqual([]);
});

test('with --dashboard its address is said; even when it is killed, no process of its own outlives it', async () => {
  const run = new Run(['--nodes', '1', '--speed', '5', '--dashboard'], NO_BROWSER);
  await run.said('Ctrl-C ends it.');
  const [url = ''] = /http:\/\/\S+/.exec(run.output) ?? [];
  expect((await fetch(url)).status).toBe(200);
  expect(leftovers().length).toBeGreaterThan(1);
  run.child.kill('SIGKILL');
  await run.exitCode();
  // The end of another's child is told to nobody.
  await until('the end of its processes', () => leftovers().length === 0);
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

describe('arguments', () => {
  test('that make no sense end at once with what is wrong', async () => {
    const run = new Run(['--nodes', 'three']);
    expect(await run.exitCode()).toBe(2);
    expect(run.output).toBe(
      '--nodes: expected a whole number from 1 to 200, got "three"\nnpm start -- --help lists the options.\n',
    );
  });

  test('--help lists options and faults', async () => {
    const run = new Run(['--help']);
    expect(await run.exitCode()).toBe(0);
    expect(run.output).toContain('--fail NODE=FAULT');
    expect(run.output).toContain('boot ');
  });
});
