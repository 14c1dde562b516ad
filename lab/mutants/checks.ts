import type { Mutant } from './mutant.ts';

const TESTS = ['test/controller/checks.test.ts'];
const OF_NODES = ['test/controller/node-checks.test.ts'];

/** Rules F2, F3 and L8, as far as they are about checks of policies. */
export const checkMutants: readonly Mutant[] = [
  {
    rule: 'P12',
    does: 'has a fleet leave what it has long proven, for a check that was changed',
    file: 'runtime/controller/plan/releases/proof.ts',
    find: 'before.provenAt == null ||',
    replace: 'before.provenAt !== undefined ||',
    tests: ['test/controller/plan/way-back.test.ts'],
  },
  {
    rule: 'F2',
    does: 'asks a check before the ledger says so, so that another leader asks a second time',
    file: 'runtime/controller/plan/groups/checks.ts',
    find: 'if (state.result || !isWritten || !mayBegin(state, this.#known.now)) return [];',
    replace: 'if (state.result || (isWritten && !mayBegin(state, this.#known.now))) return [];',
    tests: TESTS,
  },
  {
    rule: 'F2',
    does: 'goes on with a release whose check has failed as with one that failed on one node',
    file: 'runtime/controller/plan/releases/proof.ts',
    find: 'if (this.#hasFailedCheck) return true;',
    replace: 'if (this.#hasFailedCheck) return counted > 2;',
    tests: TESTS,
  },
  {
    rule: 'F3',
    does: 'forgets that a node has failed its check, since it is Ready',
    file: 'runtime/controller/plan/releases/entered.ts',
    find: 'if (NOT_OF_READINESS.has(kept.failures[uid]?.reason)) continue;',
    replace: '',
    tests: OF_NODES,
  },
  {
    rule: 'L8',
    does: 'starts a node again at once whose check has failed before its drain',
    file: 'runtime/controller/plan/facts/checks.ts',
    find: '(instantOf(state.at) ?? -Infinity) + LEFT_MS : -Infinity',
    replace: '(instantOf(state.at) ?? -Infinity) : -LEFT_MS',
    tests: OF_NODES,
  },
  {
    rule: 'F2',
    does: 'ends an update unchecked where its policy cannot be obeyed',
    file: 'runtime/controller/plan/nodes/checked.ts',
    find: '[...unreadable(policy), ...rivals]',
    replace: 'rivals',
    tests: OF_NODES,
  },
];
