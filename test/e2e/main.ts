import { prepared } from './controlplane/build.ts';
import type { Suite } from './runner.ts';
import { runSuite } from './suite.ts';

/** `npm run lab -- test:e2e`. */
const E2E: Suite = {
  command: 'test:e2e',
  folder: 'test/e2e',
  logs: 'build/e2e',
  ending: '.e2e.ts',
  jobs: 2,
  // Six minutes to one, in a run of `.ci/run`; the others take less.
  longest: [
    'crossed',
    'undone',
    'commands',
    'policies',
    'versions',
    'rollbacks',
    'hosts',
    'upheaval',
    'credentials',
    'kills',
    'cut-off',
    'worse',
    'rollout',
    'two-controllers',
    'lost-rights',
    'widen',
    'older-storage',
    'upgrade',
  ],
  own: 'a control plane',
};

process.exitCode = await runSuite(E2E, {
  args: process.argv.slice(2),
  prepare: (progress) => prepared({ env: process.env, progress }),
});
