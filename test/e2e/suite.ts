import { globSync, statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownFolder } from './controlplane/folder.ts';
import { runInside } from './controlplane/outside.ts';
import { stopRequested } from './controlplane/stopping.ts';
import {
  exitCode,
  helpText,
  jestArguments,
  parseRun,
  type Result,
  type ScenarioFile,
  selected,
  type Suite,
  summary,
} from './runner.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface SuiteOptions {
  readonly args: readonly string[];
  /** Before the first of these files runs: by then there is a network, and nobody else who builds. */
  readonly prepare: (progress: (line: string) => void, files: readonly string[]) => Promise<unknown>;
}

/** Runs files of scenarios, each on a control plane of its own, so that none finds what another left. Resolves with the exit code. */
export async function runSuite(suite: Suite, { args, prepare }: SuiteOptions): Promise<number> {
  const asked = parseRun(args, suite);
  if (asked.kind !== 'run') {
    const isHelp = asked.kind === 'help';
    process[isHelp ? 'stdout' : 'stderr'].write(isHelp ? helpText(suite) : `${asked.fault}\n`);
    return isHelp ? 0 : 2;
  }
  const waiting = selected(scenarioFiles(suite), asked.patterns, suite.longest);
  await prepare((line) => void process.stderr.write(`${line}\n`), waiting);
  const stop = stopRequested(process.env);
  const results = new Map<string, Result | undefined>();
  const folder = await ownFolder('e2e');
  try {
    const worker = async (): Promise<void> => {
      for (let file = waiting.shift(); file && !stop.aborted; file = waiting.shift())
        results.set(file, await runFile(suite, { file, report: join(folder.dir, `${file}.json`), stop }));
    };
    await Promise.all(Array.from({ length: asked.jobs }, worker));
  } finally {
    await folder.remove();
  }
  process.stdout.write(`${summary(results)}\n`);
  return exitCode(results, stop.aborted);
}

function scenarioFiles({ folder, ending }: Suite): readonly ScenarioFile[] {
  const cwd = join(ROOT, folder);
  return globSync(`*${ending}`, { cwd }).map((name) => ({ name, bytes: statSync(join(cwd, name)).size }));
}

interface FileRun {
  readonly file: string;
  /** Where jest writes what came of it. */
  readonly report: string;
  readonly stop: AbortSignal;
}

/** What jest says of a file; undefined when it came to no end. */
async function runFile(suite: Suite, { file, report, stop }: FileRun): Promise<Result | undefined> {
  const jest = [process.execPath, '--run', 'lab', '--', 'jest', ...jestArguments(file, report)];
  const logs = join(ROOT, suite.logs, file);
  await rm(logs, { recursive: true, force: true });
  // Each file has a process of its own, which would compile the same code again.
  const compiled = join(ROOT, 'build/compiled');
  const env = { NODE_COMPILE_CACHE: compiled, ...process.env, ...suite.env, CONTROLPLANE_LOGS: logs };
  await runInside(jest, { env, stdout: 'ignore', stop });
  const text = await readFile(report, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Result);
}
