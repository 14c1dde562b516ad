import type { Mutant } from '../../mutants/mutant.ts';

const SECOND_GATE = 'runtime/controller/plan/second-gate.ts';
const START_GATE = 'runtime/controller/plan/start-gate.ts';
const GATE_TESTS = ['test/controller/plan/second-gate.test.ts', 'test/controller/plan/starts.test.ts'];

/** Rules L: who may be updating. */
export const furtherSlots: readonly Mutant[] = [
  {
    rule: 'L8',
    does: 'drains what is staged though its release is halted by now',
    file: SECOND_GATE,
    find: '  if (failuresLeft <= 0) return callOff(haltedOn(release));\n',
    replace: '',
    tests: GATE_TESTS,
  },
  {
    rule: 'L8',
    does: 'drains what is staged under a pause',
    file: SECOND_GATE,
    find: '  if (context.snapshot.paused) return wait(PAUSED);\n',
    replace: '',
    tests: GATE_TESTS,
  },
  {
    rule: 'Starts',
    does: 'starts what is held back',
    file: START_GATE,
    find: '  if (node.held) return HELD;\n',
    replace: '',
    tests: GATE_TESTS,
  },
  {
    rule: 'Starts',
    does: 'starts under a pause',
    file: START_GATE,
    find: '  if (snapshot.paused) return PAUSED;\n',
    replace: '',
    tests: GATE_TESTS,
  },
  {
    rule: 'L4',
    does: 'doubts what was refused for good',
    file: 'runtime/controller/executor.ts',
    find: 'if (!isDefinite(error)) this.#ports.ledger.doubt(command.shadow);',
    replace: 'this.#ports.ledger.doubt(command.shadow);',
    tests: ['test/controller/refused-writes.test.ts'],
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
    file: 'runtime/controller/plan/budgets.ts',
    find: '      else if (info.health.outageUntil !== undefined) this.#hold(info, info.health.outageUntil);\n',
    replace: '',
    tests: ['test/controller/plan/starts.test.ts'],
  },
  {
    rule: 'L8',
    does: 'drains what is staged on a node that is not Ready',
    file: SECOND_GATE,
    find: '  if (!node.ready) return wait(NOT_READY);\n',
    replace: '',
    tests: GATE_TESTS,
  },
  {
    rule: 'L8',
    does: 'leaves a node to wait for ever whose drain is refused',
    file: SECOND_GATE,
    find: "refusal?.kind === 'refused' ? refusal.since + REFUSED_MS : NEVER",
    replace: "refusal?.kind === 'refused' ? NEVER : NEVER",
    tests: ['test/controller/refused-drain.test.ts'],
  },
  {
    rule: 'L9',
    does: 'takes a place for a start that is withheld',
    file: START_GATE,
    find: 'return withheld ? within(time, { finding: refused(withheld),',
    replace: 'return withheld && !node.name ? within(time, { finding: refused(withheld),',
    tests: ['test/controller/refused-writes.test.ts'],
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
