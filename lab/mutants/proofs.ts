import { type Mutant, mutantsOf } from './mutant.ts';

const OTHERS = 'runtime/controller/plan/gates/others.ts';
const PROPERTIES = ['test/controller/plan/policies.test.ts'];
const WELL = 'runtime/controller/plan/releases/well.ts';
const PROOF = 'runtime/controller/plan/releases/proof.ts';
const PROVERS = 'runtime/controller/plan/releases/provers.ts';

/** Rule F2, as far as it is about who proves a release. */
export const proofMutants: readonly Mutant[] = [
  ...mutantsOf(OTHERS, PROPERTIES, {
    'F2: disturbs all that has staged what is not proven': [
      "unprovenBefore = untilRoom('disturbed', false);",
      'unprovenBefore = (): GateResult => PASS;',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/in-flight.ts', ['test/controller/plan/proof.test.ts'], {
    'F2: counts a staged node that runs its version already against itself': [
      "if (phase.kind === 'staged') return shadow?.stale === true && shadow.spec.version === version;",
      '',
    ],
  }),
  ...mutantsOf(PROVERS, PROPERTIES, {
    'F2: starts more while those that are to prove a release soak': [
      'new Map([...resting, ...coming]',
      'new Map(coming',
    ],
  }),
  ...mutantsOf(PROOF, PROPERTIES, {
    'F2: lets more be on their way than may fail': [
      'placeOf(this.mayFail, atRisk, atRisk.size + failed))',
      'placeOf(Infinity, atRisk, atRisk.size + failed))',
    ],
  }),
  ...mutantsOf(PROOF, ['test/controller/plan/proof.test.ts'], {
    'F2: lets no policy try a release while nodes of one that has proven it are on their way': [
      'this.provers.atRisk(as, (key) => !this.#isProvenWith(key))',
      'this.provers.atRisk(as, () => true)',
    ],
  }),
  ...mutantsOf(WELL, PROPERTIES, {
    'F2: takes for proven what has not soaked': [
      '  if (soakMs === 0) return -Infinity;\n',
      '  if (soakMs >= 0) return -Infinity;\n',
    ],
  }),
  ...mutantsOf(PROVERS, ['test/controller/plan/blame.test.ts'], {
    'F2: waits for ever for a machine that is gone': ['return goneAt > this.#rules.now;', 'return goneAt > 0;'],
  }),
];
