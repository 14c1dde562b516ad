import type { Mutant } from './mutant.ts';

/** Rules H: what is prepared ahead, and places that are given back. */
export const hintMutants: readonly Mutant[] = [
  {
    rule: 'H1',
    does: 'leaves on record what the next download writes over',
    file: 'runtime/agent/steps/stage.ts',
    find: 'if (view.value.shadow?.status?.staged?.version != null) await apiserver.report(nothingStaged, signal);',
    replace: '',
    tests: ['test/agent/ahead.test.ts'],
  },
  {
    rule: 'H1',
    does: 'looks at nobody that is prepared ahead for pods that no eviction can move',
    file: 'runtime/apiserver/drain/ahead.ts',
    find: "state !== 'Idle' || staged",
    replace: "state === 'Idle' || staged",
    tests: ['test/apiserver/drain/preflight.test.ts'],
  },
  {
    rule: 'H2',
    does: 'leaves what a node was named when its update begins',
    file: 'runtime/controller/plan/gates/starts.ts',
    find: '...(shadow.hint && { [STAGE_ANNOTATION]: null }),',
    replace: '',
    tests: ['test/controller/plan/hints.test.ts', 'test/controller/hints.test.ts'],
  },
  {
    rule: 'H2',
    does: 'lets a hint that shows nothing keep its place for ever',
    file: 'runtime/controller/plan/gates/hints.ts',
    find: 'overdueAt(info) <= now || room.take',
    replace: 'room.take',
    tests: ['test/controller/plan/hints.test.ts'],
  },
  {
    rule: 'H2',
    does: 'names nodes of the last policy first, whose turn comes last',
    file: 'runtime/controller/plan/gates/hints.ts',
    find: 'for (const group of world.groups.all) {',
    replace: 'for (const group of world.groups.all.toReversed()) {',
    tests: ['test/controller/plan/hints.test.ts'],
  },
  {
    rule: 'L8',
    does: 'calls off a drain that a replica of the older operator may begin',
    file: 'runtime/controller/writing/actions/specs.ts',
    find: 'isAsked && !(await drainsAreOurs(ports, signal))',
    replace: 'false',
    tests: ['test/controller/refused-drain.test.ts'],
  },
];
