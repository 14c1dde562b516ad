import type { Mutant } from './mutant.ts';

/** Taints of ours on Nodes. */
export const taintMutants: readonly Mutant[] = [
  {
    rule: 'P14',
    does: 'writes its own taint over those of others',
    file: 'runtime/api/marks/taints.ts',
    find: 'wanted ? [...others, taint] : others',
    replace: 'wanted ? [taint] : []',
    tests: ['test/api/marks/taints.test.ts'],
  },
  {
    rule: 'P14',
    does: 'leaves the taint on nodes under a pause',
    file: 'runtime/controller/plan/gates/preferences.ts',
    find: '(wait.gate === undefined || mayPrepare(wait))',
    replace: 'true',
    tests: ['test/controller/plan/preferences.test.ts'],
  },
  {
    rule: 'P16',
    does: 'counts no update that was begun on a machine as it joined, though pods have come since',
    file: 'runtime/controller/plan/facts/arriving.ts',
    find: 'permit?.arriving === true && isArriving(node, at, at.now)',
    replace: 'permit?.arriving === true',
    tests: ['test/controller/plan/arrivals.test.ts'],
  },
  {
    rule: 'P16',
    does: 'keeps pods away from a machine for as long as nothing is known',
    file: 'runtime/controller/plan/gates/arrivals.ts',
    find: 'isKnown ? Math.min(latest, endOf(info, starts, world)) : latest',
    replace: 'isKnown ? Math.min(latest, endOf(info, starts, world)) : NEVER',
    tests: ['test/controller/plan/arrivals.test.ts'],
  },
  {
    rule: 'P16',
    does: 'keeps pods away from a machine under a pause',
    file: 'runtime/controller/plan/gates/arrivals.ts',
    find: "return name === 'proof' || (forbidsHint === true && !isWaitedFor);",
    replace: "return name === 'proof' || (forbidsHint === true && !isWaitedFor && name !== 'paused');",
    tests: ['test/controller/plan/arrivals.test.ts', 'test/controller/arrivals.test.ts'],
  },
  {
    rule: 'P16',
    does: 'tries a release first on machines that have just joined',
    file: 'runtime/controller/plan/gates/joined.ts',
    find: 'if (!isArriving || !release || release.proof.isProvenFor(info.node))',
    replace: 'if (release !== undefined || !isArriving)',
    tests: ['test/controller/plan/arrivals.test.ts'],
  },
];
