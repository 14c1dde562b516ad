import type { Mutant } from './mutant.ts';

/** Taints of ours on Nodes. */
export const taintMutants: readonly Mutant[] = [
  {
    rule: 'P14',
    does: 'writes its own taint over those of others',
    file: 'runtime/api/marks/taints.ts',
    find: 'wanted ? [...others, taint] : others',
    replace: 'wanted ? [taint] : []',
    tests: ['test/api/marks/taints.test.ts'],
  },
  {
    rule: 'P14',
    does: 'leaves the taint on nodes under a pause',
    file: 'runtime/controller/plan/gates/preferences.ts',
    find: '(wait.gate === undefined || mayPrepare(wait))',
    replace: 'true',
    tests: ['test/controller/plan/preferences.test.ts'],
  },
];
