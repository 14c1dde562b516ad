import { fileURLToPath } from 'node:url';

/** For Stryker: what `main.ts` has chosen. */
export default {
  testRunner: 'in-process',
  plugins: [fileURLToPath(new URL('runner.ts', import.meta.url))],
  coverageAnalysis: 'perTest',
  // On a busy machine a shorter one counts what is only slow as noticed.
  timeoutMS: 60_000,
  dryRunTimeoutMinutes: 30,
  // Modules that were loaded for a change stay in memory for as long as the process runs.
  maxTestRunnerReuse: 100,
  // TypeScript 7 has no compiler's API, with which Stryker would rewrite tsconfig.json; nothing here needs that.
  tsconfigFile: 'none',
  tempDirName: 'build/mutation',
  // What the tests that run in process read.
  ignorePatterns: ['*', '!imports/**', '!infra/**', '!runtime/**', '!lab/**', '!test/**', '!package.json'],
  mutate: JSON.parse(process.env['MUTATED'] ?? '[]'),
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, logTests: false, reportScoreTable: true },
};
