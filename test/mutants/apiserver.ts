import type { Mutant } from './mutant.ts';

export const apiserverMutants: readonly Mutant[] = [
  {
    rule: 'M1',
    without: 'a drain of another boot keeps what the earlier one owns',
    file: 'runtime/marks/patches.ts',
    find: 'owns: union(before?.owns, taken)',
    replace: 'owns: taken',
    tests: ['test/marks/marks.test.ts'],
  },
];
