import { type Mutant, mutantsOf } from './mutant.ts';

/** How fast releases come to nodes: widening, intervals, and what people expedite. */
export const cadenceMutants: readonly Mutant[] = [
  ...mutantsOf('runtime/controller/plan/releases/provers.ts', ['test/controller/plan/widening.test.ts'], {
    'F2: widens by nodes that have not soaked': [
      'this.wellAt.filter((instant) => instant <= this.#rules.now).length',
      'this.wellAt.length',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/releases/proof.ts', ['test/controller/plan/proof-per-value.test.ts'], {
    'F2: lets nodes of each value try a release before one has proven it': [
      'const isFirst = this.#keys.length > 1 &&',
      'const isFirst = false &&',
    ],
    'F2: takes a proof on one type of machine for one on all': [
      'this.#book.provenFor?.has(key) ?? this.#book.isProven',
      'this.#book.provenFor?.has(key) || this.#book.isProven',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/pauses.ts', ['test/controller/plan/cadence.test.ts'], {
    'P15: updates a node again at once': ['finishedAt + minIntervalMs <= now', 'finishedAt <= now'],
  }),
  ...mutantsOf('runtime/controller/plan/groups/group-times.ts', ['test/controller/plan/cadence.test.ts'], {
    'P15: lets an expedited release through every freeze': [
      '.filter(({ exceptExpedited }) => !exceptExpedited)',
      '.slice(0, 0)',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/answer/due-dates.ts', ['test/controller/plan/due-dates.test.ts'], {
    'P15: promises a release in time that more nodes wait for than go at once over all policies': [
      'const atOnce = Math.min(group.capacity, limit);',
      'const atOnce = group.capacity;',
    ],
  }),
];
