import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Mutant, withoutRule } from './mutant.ts';
import { MUTANTS } from './register.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What the tests that run in process read. */
const COPIED = [
  'bench',
  'build',
  'dist',
  'imports',
  'infra',
  'runtime',
  'sim',
  'test',
  'jest.config.json',
  'package.json',
];
/** Without its rule a loop may never end. */
const LONGEST_MS = 120_000;

const HELP = `Takes each registered rule out of a copy of the code, one at a time, and runs the tests that must notice.

  npm run mutants -- [TEXT]      only rules whose description contains TEXT
      --list                     shows them and runs nothing
`;

type Verdict = 'killed' | 'SURVIVED' | 'BROKEN';

interface JestReport {
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { help: { type: 'boolean' }, list: { type: 'boolean' } },
  });
  if (values.help) return say(HELP);
  const chosen = MUTANTS.filter((mutant) => positionals.every((text) => describe(mutant).includes(text)));
  if (chosen.length === 0) throw new Error(`no registered rule contains "${positionals.join(' ')}"; see --list`);
  if (values.list) return say(chosen.map((mutant) => `${describe(mutant)}\n`).join(''));
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => stop.abort(new Error(`${name} received`)));

  const queue = [...chosen];
  const verdicts: Verdict[] = [];
  const worker = async (): Promise<void> => {
    const copy = await copyOfTree();
    try {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const verdict = await judge(copy, mutant, stop.signal);
        verdicts.push(verdict);
        say(`${verdict.padEnd(9)} ${describe(mutant)}\n`);
      }
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), chosen.length) }, worker));
  const held = verdicts.filter((verdict) => verdict === 'killed').length;
  say(`${held} rules are held by a test, ${verdicts.length - held} are not\n`);
  return held === verdicts.length ? 0 : 1;
}

function describe({ rule, without, file }: Mutant): string {
  return `${rule}: ${without} (${file})`;
}

async function copyOfTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'brupop-mutants-'));
  for (const name of COPIED) await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Tests the copy without the rule and puts the rule back. */
async function judge(copy: string, mutant: Mutant, signal: AbortSignal): Promise<Verdict> {
  signal.throwIfAborted();
  const path = join(copy, mutant.file);
  const text = await readFile(path, 'utf8');
  await writeFile(path, withoutRule(text, mutant));
  try {
    const report = await runJest(copy, mutant, signal);
    if (report === 'endless') return 'killed';
    if (report.numFailedTests > 0) return 'killed';
    return report.numRuntimeErrorTestSuites > 0 ? 'BROKEN' : 'SURVIVED';
  } finally {
    await writeFile(path, text);
  }
}

async function runJest(copy: string, { tests, name }: Mutant, signal: AbortSignal): Promise<JestReport | 'endless'> {
  const output = join(copy, 'report.json');
  const args = [...tests, '--runInBand', '--json', '--outputFile', output];
  const child = spawn('jest', name === undefined ? args : [...args, '--testNamePattern', name], {
    cwd: copy,
    stdio: 'ignore',
    env: { ...process.env, NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning' },
    signal,
    killSignal: 'SIGKILL',
    timeout: LONGEST_MS,
  });
  await once(child, 'exit');
  // Killed for its time, or by itself when a loop without end had taken all memory.
  if (child.killed || child.exitCode === null) return 'endless';
  try {
    return JSON.parse(await readFile(output, 'utf8')) as JestReport;
  } finally {
    await rm(output, { force: true });
  }
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
