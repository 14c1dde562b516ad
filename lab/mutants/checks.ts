import { type Mutant, mutantsOf } from './mutant.ts';

const TESTS = ['test/controller/checks.test.ts'];
const OF_NODES = ['test/controller/node-checks.test.ts'];

/** Rules F2, F3 and L8, as far as they are about checks of policies. */
export const checkMutants: readonly Mutant[] = [
  ...mutantsOf('runtime/controller/plan/releases/proof.ts', ['test/controller/plan/way-back.test.ts'], {
    'P12: has a fleet leave what it has long proven, for a check that was changed': [
      'before.provenAt == null ||',
      'before.provenAt !== undefined ||',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/groups/checks.ts', OF_NODES, {
    'F2: forgets an answer that no ledger has yet, so that it asks again at once': [
      '{ answer, now }), written: state });',
      '{ answer, now }), written: advanced(state, asked.check, { answer, now }) });',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/groups/checks.ts', TESTS, {
    'F2: asks a check before the ledger says so, so that another leader asks a second time': [
      '#tryOf({ asked: { key, check, node }, written }: Standing)',
      '#tryOf({ asked: { key, check, node }, state: written }: Standing)',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/releases/proof.ts', TESTS, {
    'F2: goes on with a release whose check has failed as with one that failed on one node': [
      'if (this.#hasFailedCheck) return true;',
      'if (this.#hasFailedCheck) return counted > 2;',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/releases/entered.ts', OF_NODES, {
    'F3: forgets that a node has failed its check, since it is Ready': [
      'if (NOT_OF_READINESS.has(kept.failures[uid]?.reason)) continue;',
      '',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/facts/checks.ts', OF_NODES, {
    'L8: starts a node again at once whose check has failed before its drain': [
      '(instantOf(state.at) ?? -Infinity) + LEFT_MS : -Infinity',
      '(instantOf(state.at) ?? -Infinity) : -LEFT_MS',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/checked.ts', OF_NODES, {
    'F2: ends an update unchecked where its policy cannot be obeyed': ['[...unreadable(policy), ...rivals]', 'rivals'],
  }),
];
