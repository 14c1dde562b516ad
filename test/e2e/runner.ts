import { parseArgs } from 'node:util';

/** Files of scenarios that are run in the same way. */
export interface Suite {
  /** Its name in tools/lab. */
  readonly command: string;
  /** Of the project: where the files are, and where what the programs of failed ones wrote is kept. */
  readonly folder: string;
  readonly logs: string;
  /** End of the files' names. */
  readonly ending: string;
  /** Files that run at a time. */
  readonly jobs: number;
  /** Parts of the names of files that begin before the others, in this order: those that take longest. @default none */
  readonly longest?: readonly string[];
  /** What each file has for itself, e.g. `a control plane`. */
  readonly own: string;
  /** For the control planes. @default none */
  readonly env?: Readonly<Record<string, string>>;
}

export function helpText({ command, folder, ending, logs, jobs, own }: Suite): string {
  return `Usage: npm run lab -- ${command} [--jobs N] [PATTERN...]

Runs every file of ${folder}/*${ending}, or those whose names contain one of the patterns, each on ${own} of its own.
What the programs of a failed file wrote is kept in ${logs}/, the API server's audit log among it.

  --jobs N  files that run at a time (default ${jobs})
  --help    prints this
`;
}

export type Run =
  | { readonly kind: 'run'; readonly jobs: number; readonly patterns: readonly string[] }
  | { readonly kind: 'help' }
  | { readonly kind: 'wrong'; readonly fault: string };

/** What the arguments of a suite's command ask for. */
export function parseRun(args: readonly string[], { jobs }: Pick<Suite, 'jobs'>): Run {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        jobs: { type: 'string', default: String(jobs) },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return { kind: 'help' };
    if (/^[1-9]$/.test(values.jobs)) return { kind: 'run', jobs: Number(values.jobs), patterns: positionals };
    return { kind: 'wrong', fault: `--jobs: expected a whole number from 1 to 9, got ${values.jobs}` };
  } catch (error) {
    return { kind: 'wrong', fault: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * For jest: to run one file of scenarios, and to end with its last test. A file that passes ends by itself; a scenario that runs out of
 * time goes on waiting for what does not come, and nothing can stop it.
 */
export function jestArguments(file: string, report: string): readonly string[] {
  return ['--testMatch', `**/${file}`, '--json', '--outputFile', report, '--forceExit'];
}

export interface ScenarioFile {
  readonly name: string;
  readonly bytes: number;
}

/**
 * Names of the files that a pattern is part of; of all, where there is no pattern. Those that are known to take longest come first, then
 * the large ones, which tend to: what begins last decides when all is over.
 */
export function selected(
  files: readonly ScenarioFile[],
  patterns: readonly string[],
  longest: readonly string[] = [],
): string[] {
  const isWanted = (name: string): boolean => patterns.length === 0 || patterns.some((part) => name.includes(part));
  const rank = (name: string): number => {
    const place = longest.findIndex((part) => name.includes(part));
    return place === -1 ? longest.length : place;
  };
  return files
    .filter(({ name }) => isWanted(name))
    .toSorted((a, b) => rank(a.name) - rank(b.name) || b.bytes - a.bytes)
    .map(({ name }) => name);
}

/** The part of jest's report that counts. */
export interface Result {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
}

/** `results` by file; a file without one came to no end and counts as one failure. */
export function summary(results: ReadonlyMap<string, Result | undefined>): string {
  let [passed, failed] = [0, 0];
  for (const result of results.values()) {
    passed += result?.numPassedTests ?? 0;
    failed += failuresOf(result);
  }
  return `${passed} passed, ${failed} failed`;
}

/** A file can fail without a test that failed: where it cannot be loaded, its set-up throws, or each of its tests is skipped. */
function failuresOf(result: Result | undefined): number {
  if (result?.success && result.numPassedTests > 0) return 0;
  return Math.max(1, result?.numFailedTests ?? 0);
}

/** 0 only when something ran and all of it passed. */
export function exitCode(results: ReadonlyMap<string, Result | undefined>, interrupted: boolean): number {
  if (interrupted) return 130;
  return results.size > 0 && [...results.values()].every((result) => failuresOf(result) === 0) ? 0 : 1;
}
