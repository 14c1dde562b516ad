import type { Mutant } from './mutant.ts';

const VERSIONS = 'runtime/controller/plan/gates/versions.ts';
const WISHES = 'runtime/controller/plan/gates/wishes.ts';

/** Rules P: which versions a policy takes, and what is wanted of hosts for that. */
export const versionMutants: readonly Mutant[] = [
  {
    rule: 'P11',
    does: 'takes what is above the highest version of a policy',
    file: VERSIONS,
    find: 'if (max !== undefined && compareSemver(version, max) > 0)',
    replace: 'if (max === version)',
    tests: ['test/controller/plan/versions.test.ts'],
  },
  {
    rule: 'P11',
    does: 'asks a way back for its age',
    file: VERSIONS,
    find: '!isAbove(release.version, shadow.status?.current_version)',
    replace: 'release.version === shadow.status?.current_version',
    tests: ['test/controller/plan/versions.test.ts'],
  },
  {
    rule: 'P12',
    does: 'changes what is wanted of a host while its update is under way',
    file: WISHES,
    find: "phase.kind === 'resting' && shadow.spec.state === 'Idle' && !permit &&",
    replace: '',
    tests: ['test/controller/plan/wishes.test.ts', 'test/controller/wishes.test.ts'],
  },
  {
    rule: 'P12',
    does: 'unlocks hosts whose policy is away for a moment',
    file: WISHES,
    find: 'dueAt(one) > now ? []',
    replace: 'dueAt(one) === now ? []',
    tests: ['test/controller/plan/wishes.test.ts'],
  },
];
