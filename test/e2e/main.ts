import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { binaries } from './controlplane/build.ts';
import {
  exitCode,
  HELP,
  jestArguments,
  parseRun,
  type Result,
  type ScenarioFile,
  selected,
  summary,
} from './runner.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const CONTROLPLANE = here('controlplane/main.ts');
const LOGS = here('../../build/e2e');

/** `npm run test:e2e`: each file of scenarios on a control plane of its own, so that none finds what another left. */
async function main(args: readonly string[]): Promise<number> {
  const asked = parseRun(args);
  if (asked.kind !== 'run') {
    process[asked.kind === 'help' ? 'stdout' : 'stderr'].write(asked.kind === 'help' ? HELP : `${asked.fault}\n`);
    return asked.kind === 'help' ? 0 : 2;
  }
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  // Before two of them build at once.
  await binaries({ env: process.env, progress: (line) => void process.stderr.write(`${line}\n`) });
  const results = new Map<string, Result | undefined>();
  const dir = await mkdtemp(join(tmpdir(), 'brupop-e2e-'));
  try {
    const waiting = selected(scenarioFiles(), asked.patterns);
    const worker = async (): Promise<void> => {
      for (let file = waiting.shift(); file && !stop.signal.aborted; file = waiting.shift())
        results.set(file, await runFile(file, join(dir, `${file}.json`), stop.signal));
    };
    await Promise.all(Array.from({ length: asked.jobs }, worker));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
  process.stdout.write(`${summary(results)}\n`);
  return exitCode(results, stop.signal.aborted);
}

function scenarioFiles(): readonly ScenarioFile[] {
  return globSync('*.e2e.ts', { cwd: here('.') }).map((name) => ({ name, bytes: statSync(here(name)).size }));
}

/** What jest says of a file; undefined when it came to no end. */
async function runFile(file: string, report: string, stop: AbortSignal): Promise<Result | undefined> {
  const jest = ['npm', 'run', '--silent', 'jest', '--', ...jestArguments(file, report)];
  const logs = join(LOGS, file);
  await rm(logs, { recursive: true, force: true });
  const env = { ...process.env, CONTROLPLANE_LOGS: logs };
  const child = spawn(process.execPath, [CONTROLPLANE, 'exec', ...jest], {
    env,
    stdio: ['inherit', 'ignore', 'inherit'],
  });
  const end = (): void => void child.kill('SIGTERM');
  stop.addEventListener('abort', end);
  await once(child, 'exit');
  stop.removeEventListener('abort', end);
  const text = await readFile(report, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Result);
}

process.exitCode = await main(process.argv.slice(2));
