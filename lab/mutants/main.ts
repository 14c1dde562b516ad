import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describe, type Mutant } from './mutant.ts';
import { mutantsAbout } from './register.ts';
import { copyOfTree, planted } from './tree.ts';

/** A loop that is mutated may never end. */
const LONGEST_MS = 300_000;

const HELP = `Breaks the protocol in a copy of the code, in one way at a time, and runs the tests that must notice.

  npm run lab -- mutants [TEXT]      only mutants whose description contains TEXT
      --list                     shows them and runs nothing
      --jobs N                   so many at a time; as many as there are processors unless told
`;

type Verdict = 'killed' | 'SURVIVED' | 'BROKEN';

interface JestReport {
  readonly success: boolean;
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { help: { type: 'boolean' }, list: { type: 'boolean' }, jobs: { type: 'string' } },
  });
  if (values.help) return say(HELP);
  const chosen = mutantsAbout(positionals);
  if (values.list) return say(chosen.map((mutant) => `${describe(mutant)}\n`).join(''));
  const jobs = Number(values.jobs ?? availableParallelism());
  if (!Number.isInteger(jobs) || jobs < 1) throw new Error(`--jobs: expected a number from 1, got "${values.jobs}"`);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => stop.abort(new Error(`${name} received`)));
  const verdicts = await judgeAll(chosen, jobs, stop.signal);
  const killed = verdicts.filter((verdict) => verdict === 'killed').length;
  say(`${killed} mutants are killed, ${verdicts.length - killed} are not\n`);
  return killed === verdicts.length ? 0 : 1;
}

async function judgeAll(mutants: readonly Mutant[], jobs: number, signal: AbortSignal): Promise<Verdict[]> {
  const copies = await Promise.all(Array.from({ length: Math.min(jobs, mutants.length) }, copyOfTree));
  try {
    // A test that fails anyway would kill every mutant.
    const unchanged = await runJest(copies[0]!, [...new Set(mutants.flatMap(({ tests }) => tests))], signal);
    if (!unchanged?.success) throw new Error('tests fail though nothing was changed');
    const queue = [...mutants];
    const verdicts: Verdict[] = [];
    const worker = async (copy: string): Promise<void> => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const verdict = await judge(copy, mutant, signal);
        verdicts.push(verdict);
        say(`${verdict.padEnd(9)} ${describe(mutant)}\n`);
      }
    };
    await Promise.all(copies.map(worker));
    return verdicts;
  } finally {
    for (const copy of copies) await rm(copy, { recursive: true, force: true });
  }
}

/** Tests the copy with the mutation, and takes that back. */
async function judge(copy: string, mutant: Mutant, signal: AbortSignal): Promise<Verdict> {
  signal.throwIfAborted();
  return planted(copy, mutant, async () => {
    const report = await runJest(copy, mutant.tests, signal, LONGEST_MS);
    if (report === undefined || report.numFailedTests > 0) return 'killed';
    return report.numRuntimeErrorTestSuites > 0 ? 'BROKEN' : 'SURVIVED';
  });
}

/** Undefined where the tests did not come to an end. */
async function runJest(
  copy: string,
  tests: readonly string[],
  signal: AbortSignal,
  timeout?: number,
): Promise<JestReport | undefined> {
  const output = join(copy, 'report.json');
  const child = spawn('jest', [...tests, '--runInBand', '--json', '--outputFile', output], {
    cwd: copy,
    stdio: 'ignore',
    // Some show at few moments, of which tests try a part each day.
    env: { TEST_DEPTH: '5', ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
    signal,
    killSignal: 'SIGKILL',
    timeout,
  });
  await once(child, 'exit');
  // Killed for its time, or by itself when a loop without end had taken all memory.
  if (child.killed || child.exitCode === null) return undefined;
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
