/** For Stryker: what `main.ts` has chosen. */
export default {
  testRunner: 'jest',
  plugins: ['@stryker-mutator/jest-runner'],
  coverageAnalysis: 'perTest',
  // On a busy machine a shorter one counts what is only slow as noticed.
  timeoutMS: 60_000,
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  // TypeScript 7 has no compiler's API, with which Stryker would rewrite tsconfig.json; nothing here needs that.
  tsconfigFile: 'none',
  tempDirName: 'build/mutation',
  // What the tests that run in process read.
  ignorePatterns: [
    '*',
    '!imports/**',
    '!infra/**',
    '!runtime/**',
    '!sim/**',
    '!test/**',
    '!jest.config.json',
    '!package.json',
  ],
  mutate: JSON.parse(process.env['MUTATED'] ?? '[]'),
  jest: {
    projectType: 'custom',
    enableFindRelatedTests: false,
    // Stryker puts its own around one that it knows.
    config: { testEnvironment: 'node', testMatch: JSON.parse(process.env['MUTATION_TESTS'] ?? '[]') },
  },
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, logTests: false, reportScoreTable: true },
};
