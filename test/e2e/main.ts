import { globSync, statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepared } from './controlplane/build.ts';
import { ownFolder } from './controlplane/folder.ts';
import { runInside } from './controlplane/outside.ts';
import { stopRequested } from './controlplane/stopping.ts';
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
const LOGS = here('../../build/e2e');

/** `npm run test:e2e`: each file of scenarios on a control plane of its own, so that none finds what another left. */
async function main(args: readonly string[]): Promise<number> {
  const asked = parseRun(args);
  if (asked.kind !== 'run') {
    process[asked.kind === 'help' ? 'stdout' : 'stderr'].write(asked.kind === 'help' ? HELP : `${asked.fault}\n`);
    return asked.kind === 'help' ? 0 : 2;
  }
  // Before two of them build at once.
  await prepared({ env: process.env, progress: (line) => void process.stderr.write(`${line}\n`) });
  const stop = stopRequested(process.env);
  const results = new Map<string, Result | undefined>();
  const folder = await ownFolder('e2e');
  try {
    const waiting = selected(scenarioFiles(), asked.patterns);
    const worker = async (): Promise<void> => {
      for (let file = waiting.shift(); file && !stop.aborted; file = waiting.shift())
        results.set(file, await runFile(file, join(folder.dir, `${file}.json`), stop));
    };
    await Promise.all(Array.from({ length: asked.jobs }, worker));
  } finally {
    await folder.remove();
  }
  process.stdout.write(`${summary(results)}\n`);
  return exitCode(results, stop.aborted);
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
  await runInside(jest, { env, stdout: 'ignore', stop });
  const text = await readFile(report, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Result);
}

process.exitCode = await main(process.argv.slice(2));
