import { type Mutant, mutantsOf } from './mutant.ts';

export const freshnessMutants: readonly Mutant[] = [
  ...mutantsOf('runtime/kube/reflector.ts', ['test/kube/informer.test.ts'], {
    'L11: takes a bookmark for a proof that nothing has changed': [
      "if (change.kind !== 'bookmark') this.#isCurrent",
      'this.#isCurrent',
    ],
  }),
  ...mutantsOf('runtime/kube/reflector.ts', ['test/kube/informer.test.ts', 'test/controller/freshness.test.ts'], {
    'L11: goes on by a watch after a gap': [
      'if (currentForMs === undefined || now - this.#currentAt < currentForMs) this.#note(now);\n    else this.relist();',
      'this.#note(now);',
    ],
  }),
  ...mutantsOf(
    'runtime/controller/controller.ts',
    ['test/controller/freshness.test.ts', 'test/controller/stale-caches.test.ts'],
    {
      'L11: begins a term with what was read before it': ['await freshness.renew(signal);', ''],
    },
  ),
  ...mutantsOf(
    'runtime/controller/plan/gates/gates.ts',
    ['test/controller/freshness.test.ts', 'test/controller/plan/rulings.test.ts'],
    {
      'L11: disturbs what is staged on what is not known to be current': [
        "of: 'fleet', again: 'unknown', ask: notCurrent",
        "of: 'fleet', again: undefined, ask: notCurrent",
      ],
    },
  ),
  ...mutantsOf(
    'runtime/controller/plan/gates/fleet.ts',
    ['test/controller/freshness.test.ts', 'test/controller/plan/properties.test.ts'],
    {
      'L11: starts on what is not known to be current': [
        "return lost === undefined ? PASS : stoppedBy(found('NotCurrent', lost));",
        'return PASS;',
      ],
    },
  ),
];
