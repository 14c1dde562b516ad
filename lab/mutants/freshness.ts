import type { Mutant } from './mutant.ts';

export const freshnessMutants: readonly Mutant[] = [
  {
    rule: 'L11',
    does: 'takes a bookmark for a proof that nothing has changed',
    file: 'runtime/kube/reflector.ts',
    find: "if (change.kind !== 'bookmark') this.#isCurrent",
    replace: 'this.#isCurrent',
    tests: ['test/kube/informer.test.ts'],
  },
  {
    rule: 'L11',
    does: 'goes on by a watch after a gap',
    file: 'runtime/kube/reflector.ts',
    find: 'if (currentForMs === undefined || now - this.#currentAt < currentForMs) this.#note(now);\n    else this.relist();',
    replace: 'this.#note(now);',
    tests: ['test/kube/informer.test.ts', 'test/controller/freshness.test.ts'],
  },
  {
    rule: 'L11',
    does: 'begins a term with what was read before it',
    file: 'runtime/controller/controller.ts',
    find: 'await freshness.renew(signal);',
    replace: '',
    tests: ['test/controller/freshness.test.ts', 'test/controller/stale-caches.test.ts'],
  },
  {
    rule: 'L11',
    does: 'disturbs what is staged on what is not known to be current',
    file: 'runtime/controller/plan/gates/gates.ts',
    find: "of: 'fleet', again: 'unknown', ask: notCurrent",
    replace: "of: 'fleet', again: undefined, ask: notCurrent",
    tests: ['test/controller/freshness.test.ts', 'test/controller/plan/rulings.test.ts'],
  },
  {
    rule: 'L11',
    does: 'starts on what is not known to be current',
    file: 'runtime/controller/plan/gates/fleet.ts',
    find: "return lost === undefined ? PASS : stoppedBy(found('NotCurrent', lost));",
    replace: 'return PASS;',
    tests: ['test/controller/freshness.test.ts', 'test/controller/plan/properties.test.ts'],
  },
];
