import type { Mutant } from './mutant.ts';

/** How fast releases come to nodes: widening, intervals, and what people expedite. */
export const cadenceMutants: readonly Mutant[] = [
  {
    rule: 'F2',
    does: 'widens by nodes that have not soaked',
    file: 'runtime/controller/plan/releases/provers.ts',
    find: 'this.wellAt.filter((instant) => instant <= this.#rules.now).length',
    replace: 'this.wellAt.length',
    tests: ['test/controller/plan/widening.test.ts'],
  },
  {
    rule: 'F2',
    does: 'lets nodes of each value try a release before one has proven it',
    file: 'runtime/controller/plan/releases/proof.ts',
    find: 'const isFirst = this.#keys.length > 1 &&',
    replace: 'const isFirst = false &&',
    tests: ['test/controller/plan/proof-per-value.test.ts'],
  },
  {
    rule: 'F2',
    does: 'takes a proof on one type of machine for one on all',
    file: 'runtime/controller/plan/releases/proof.ts',
    find: 'this.#book.provenFor?.has(key) ?? this.#book.isProven',
    replace: 'this.#book.provenFor?.has(key) || this.#book.isProven',
    tests: ['test/controller/plan/proof-per-value.test.ts'],
  },
  {
    rule: 'P15',
    does: 'updates a node again at once',
    file: 'runtime/controller/plan/gates/pauses.ts',
    find: 'finishedAt + minIntervalMs <= now',
    replace: 'finishedAt <= now',
    tests: ['test/controller/plan/cadence.test.ts'],
  },
  {
    rule: 'P15',
    does: 'lets an expedited release through every freeze',
    file: 'runtime/controller/plan/groups/group-times.ts',
    find: '.filter(({ exceptExpedited }) => !exceptExpedited)',
    replace: '.slice(0, 0)',
    tests: ['test/controller/plan/cadence.test.ts'],
  },
  {
    rule: 'P15',
    does: 'promises a release in time that more nodes wait for than go at once over all policies',
    file: 'runtime/controller/plan/answer/due-dates.ts',
    find: 'const atOnce = Math.min(group.capacity, limit);',
    replace: 'const atOnce = group.capacity;',
    tests: ['test/controller/plan/due-dates.test.ts'],
  },
];
