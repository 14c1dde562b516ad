import type { Mutant } from '../../mutants/mutant.ts';
import { MUTANTS } from '../../mutants/register.ts';

const GATES = 'runtime/controller/plan/gates.ts';
const GATE_TESTS = ['test/controller/plan/second-gate.test.ts', 'test/controller/plan/starts.test.ts'];

/** What one process does wrong by itself, where the register has what is done in the wrong order. */
const FURTHER: readonly Mutant[] = [
  {
    rule: 'L8',
    does: 'drains what is staged though its release is halted by now',
    file: GATES,
    find: "  if (refusal) return { kind: 'call-off', because: refusal };\n",
    replace: '',
    tests: GATE_TESTS,
  },
  {
    rule: 'L8',
    does: 'drains what is staged under a pause',
    file: GATES,
    find: "  if (snapshot.paused) return { kind: 'wait', because: PAUSED };\n",
    replace: '',
    tests: GATE_TESTS,
  },
  {
    rule: 'F1',
    does: 'halts no release',
    file: GATES,
    find: 'if (failuresLeft > 0 || failed.has(uid)) return undefined;',
    replace: 'if (failuresLeft > 0 || failed.size >= 0 || uid) return undefined;',
    tests: GATE_TESTS,
  },
  {
    rule: 'Starts',
    does: 'starts what is held back',
    file: GATES,
    find: '  if (node.held) return HELD;\n',
    replace: '',
    tests: GATE_TESTS,
  },
  {
    rule: 'Starts',
    does: 'starts under a pause',
    file: GATES,
    find: '  if (paused) return PAUSED;\n',
    replace: '  if (paused && !node.name) return PAUSED;\n',
    tests: GATE_TESTS,
  },
  {
    rule: 'Starts',
    does: 'starts outside of the window',
    file: GATES,
    find: ' ?? outsideWindow(shadow, keeper);',
    replace: ' ?? (shadow.name ? undefined : outsideWindow(shadow, keeper));',
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
    rule: 'F1',
    does: 'takes a probe for a request to reboot',
    file: 'runtime/controller/plan/machine.ts',
    find: ': boolean => requested_at != null;',
    replace: ": boolean => requested_at !== '';",
    tests: ['test/controller/plan/blame.test.ts'],
  },
  {
    rule: 'B1',
    does: 'leaves the record where the node is at rest',
    file: 'runtime/agent/status.ts',
    find: "current_state: 'Idle', reboot: null }",
    replace: "current_state: 'Idle' }",
    tests: ['test/agent/boots.test.ts'],
  },
];

/** Everything that the simulation has to find. */
export const PLANTED: readonly Mutant[] = [...MUTANTS, ...FURTHER];
