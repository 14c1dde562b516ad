import type { Mutant } from '../../mutants/mutant.ts';

const GATES = 'runtime/controller/plan/gates.ts';
const TESTS = ['test/controller/plan/starts.test.ts', 'test/controller/plan/properties.test.ts'];

/** What update policies forbid, with each of its gates taken out. */
export const furtherPolicies: readonly Mutant[] = [
  {
    rule: 'Policy',
    does: 'starts in a freeze',
    file: 'runtime/controller/plan/times.ts',
    find: 'const holds = freeze.from <= now && now < freeze.to;',
    replace: 'const holds = freeze.to < freeze.from;',
    tests: TESTS,
  },
  {
    rule: 'Policy',
    does: 'disturbs in a freeze what was staged before',
    file: GATES,
    find: '  if (freeze.finding) return callOff(freeze.finding, freeze.changesAt);\n',
    replace: '',
    tests: TESTS,
  },
  {
    rule: 'Policy',
    does: 'starts under the pause of a policy',
    file: GATES,
    find: 'against ?? (rules.paused ?',
    replace: 'against ?? (rules.name === undefined ?',
    tests: TESTS,
  },
  {
    rule: 'Policy',
    does: 'starts in any number of zones at once',
    file: 'runtime/controller/plan/zones.ts',
    find: 'return zone.busy > 0 || this.#busy < this.#rules.atOnce;',
    replace: 'return zone.busy >= 0;',
    tests: TESTS,
  },
  {
    rule: 'Policy',
    does: 'gives each policy all places',
    file: 'runtime/controller/plan/groups.ts',
    find: 'new Budget(concurrency(rules.maxConcurrent, members.length))',
    replace: 'new Budget(Infinity)',
    tests: TESTS,
  },
  {
    rule: 'Policy',
    does: 'does not pause between updates',
    file: 'runtime/controller/plan/times.ts',
    find: 'if (closing.finding || group.pausesUntil <= times.now) return closing;',
    replace: 'if (closing.finding || group.pausesUntil < Infinity) return closing;',
    tests: TESTS,
  },
  {
    rule: 'Policy',
    does: 'waits for no other policy',
    file: 'runtime/controller/plan/dependencies.ts',
    find: 'if (group.rules.after.length === 0) return PASS;',
    replace: 'if (group.rules.after.length >= 0) return PASS;',
    tests: TESTS,
  },
  {
    rule: 'Policy',
    does: 'lets the first of two policies of the same priority rule',
    file: 'runtime/controller/plan/rulings.ts',
    find: 'return rivals.length > 0 ? this.#conflictOf([first, ...rivals]) : first.ruling;',
    replace: 'return first.ruling;',
    tests: TESTS,
  },
  {
    rule: 'Policy',
    does: 'starts though nobody knows which policies there are',
    file: GATES,
    find: 'return rulings.unknown ?? byPolicy(ruling);',
    replace: 'return byPolicy(ruling);',
    tests: TESTS,
  },
  {
    rule: 'F2',
    does: 'takes one node that is well for the proof of a release, whatever the policy says',
    file: 'runtime/controller/plan/proof.ts',
    find: 'return this.#well >= this.#needed;',
    replace: 'return this.#well > 0;',
    tests: TESTS,
  },
];
