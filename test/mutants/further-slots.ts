import type { Mutant } from './mutant.ts';

const GATES = 'runtime/controller/plan/gates.ts';
const GATE_TESTS = ['test/controller/plan/second-gate.test.ts', 'test/controller/plan/starts.test.ts'];

/** Rules L: who may be updating. */
export const furtherSlots: readonly Mutant[] = [
  {
    rule: 'L8',
    does: 'drains what is staged though its release is halted by now',
    file: GATES,
    find: "again: 'call-off', ask: halted",
    replace: 'again: undefined, ask: halted',
    tests: GATE_TESTS,
  },
  {
    rule: 'L8',
    does: 'drains what is staged under a pause',
    file: GATES,
    find: "again: 'wait', ask: nowPaused",
    replace: 'again: undefined, ask: nowPaused',
    tests: GATE_TESTS,
  },
  {
    rule: 'Starts',
    does: 'starts what is held back',
    file: GATES,
    find: 'return info.node.held ? HELD : PASS;',
    replace: 'return PASS;',
    tests: GATE_TESTS,
  },
  {
    rule: 'Starts',
    does: 'starts under a pause',
    file: GATES,
    find: 'return snapshot.paused ? PAUSED : PASS;',
    replace: 'return PASS;',
    tests: GATE_TESTS,
  },
  {
    rule: 'L3',
    does: 'keeps the slot of a node that is gone',
    file: 'runtime/controller/plan/recovery.ts',
    find: "  if (!holder) return { kind: 'free', shadow, nodeUid, because: 'node-gone' };\n",
    replace: '  if (!holder) return undefined;\n',
    tests: ['test/controller/plan/recovery.test.ts'],
  },
  {
    rule: 'L4',
    does: 'does not doubt a slot while a write to its shadow has no answer',
    file: 'runtime/controller/executor.ts',
    find: "if (result === 'slow') this.#ports.ledger.doubt(target);",
    replace: '',
    tests: ['test/controller/unanswered.test.ts'],
  },
  {
    rule: 'L5',
    does: 'swaps the list of slots without a look at who leads',
    file: 'runtime/controller/slots/ledger.ts',
    find: 'if (lease?.spec?.holderIdentity !== this.#options.identity)',
    replace: 'if (!lease)',
    tests: ['test/controller/slots/ledger.test.ts'],
  },
  {
    rule: 'L6',
    does: 'does not count a node that became NotReady',
    file: 'runtime/controller/plan/busy.ts',
    find: '? NEVER : info.health.outageUntil;',
    replace: '? NEVER : undefined;',
    tests: ['test/controller/plan/starts.test.ts'],
  },
  {
    rule: 'L8',
    does: 'drains what is staged on a node that is not Ready',
    file: GATES,
    find: "again: 'wait', ask: notReady",
    replace: 'again: undefined, ask: notReady',
    tests: GATE_TESTS,
  },
  {
    rule: 'L9',
    does: 'asks on for a node whose last write has no answer',
    file: 'runtime/controller/slow-commands.ts',
    find: 'return this.#slow.has(target) || this.#slow.size >= MAX_SLOW;',
    replace: 'return !target;',
    tests: ['test/controller/unanswered.test.ts'],
  },
];
