import type { Mutant } from './mutant.ts';

/** How fast releases come to nodes: widening, intervals, and what people expedite. */
export const cadenceMutants: readonly Mutant[] = [
  {
    rule: 'F2',
    does: 'widens by nodes that have not soaked',
    file: 'runtime/controller/plan/releases/proof.ts',
    find: 'this.#wellAt.filter((instant) => instant <= now).length',
    replace: 'this.#wellAt.length',
    tests: ['test/controller/plan/widening.test.ts'],
  },
];
