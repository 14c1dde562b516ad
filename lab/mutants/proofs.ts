import type { Mutant } from './mutant.ts';

const OTHERS = 'runtime/controller/plan/gates/others.ts';
const PROPERTIES = ['test/controller/plan/policies.test.ts'];
const WELL = 'runtime/controller/plan/releases/well.ts';
const PROOF = 'runtime/controller/plan/releases/proof.ts';
const PROVERS = 'runtime/controller/plan/releases/provers.ts';

/** Rule F2, as far as it is about who proves a release. */
export const proofMutants: readonly Mutant[] = [
  {
    rule: 'F2',
    does: 'disturbs all that has staged what is not proven',
    file: OTHERS,
    find: "=> untilProven(asking, 'disturbed', world);",
    replace: "=> untilProven({ ...asking, isRetry: true }, 'disturbed', world);",
    tests: PROPERTIES,
  },
  {
    rule: 'F2',
    does: 'counts a staged node that runs its version already against itself',
    file: 'runtime/controller/plan/nodes/in-flight.ts',
    find: "if (phase.kind === 'staged') return shadow?.stale === true && shadow.spec.version === version;",
    replace: '',
    tests: ['test/controller/plan/proof.test.ts'],
  },
  {
    rule: 'F2',
    does: 'starts more while those that are to prove a release soak',
    file: PROVERS,
    find: 'new Map([...resting, ...coming]',
    replace: 'new Map(coming',
    tests: PROPERTIES,
  },
  {
    rule: 'F2',
    does: 'lets more be on their way than may fail',
    file: PROOF,
    find: 'placeOf(this.mayFail, atRisk, atRisk.size + failed))',
    replace: 'placeOf(Infinity, atRisk, atRisk.size + failed))',
    tests: PROPERTIES,
  },
  {
    rule: 'F2',
    does: 'takes for proven what has not soaked',
    file: WELL,
    find: '  if (soakMs === 0) return -Infinity;\n',
    replace: '  if (soakMs >= 0) return -Infinity;\n',
    tests: PROPERTIES,
  },
  {
    rule: 'F2',
    does: 'waits for ever for a machine that is gone',
    file: PROVERS,
    find: 'return goneAt > this.#rules.now;',
    replace: 'return goneAt > 0;',
    tests: ['test/controller/plan/blame.test.ts'],
  },
];
