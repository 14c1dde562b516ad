import type { Mutant } from './mutant.ts';

const START_GATE = 'runtime/controller/plan/start-gate.ts';
/** What tries whom a release is blamed on. */
const OF_BLAME = [
  'test/controller/plan/failure-budget.test.ts',
  'test/controller/plan/blame.test.ts',
  'test/controller/plan/properties.test.ts',
];

/** Rules F and C: what a release is to blame for, and what older clients may not destroy. */
export const failureMutants: readonly Mutant[] = [
  {
    rule: 'C1',
    does: 'takes v2 back though an older controller has written the spec',
    file: 'runtime/shadow/convert.ts',
    find: 'isSame(spec, given.spec, SPEC_V1) && ',
    replace: '',
    tests: ['test/apiserver/older-clients.test.ts'],
  },
  {
    rule: 'C2',
    does: 'leaves the annotation on a v2 object',
    file: 'runtime/shadow/convert.ts',
    find: '...annotated(shadow, others)',
    replace: '...shadow',
    tests: ['test/apiserver/older-clients.test.ts'],
  },
  {
    rule: 'F1',
    does: 'does not blame a version for a node that does not return',
    file: 'runtime/controller/plan/blame.ts',
    find: 'const present = notReturned ? shadow.spec.version : current;',
    replace: "const present = soak === 'failed' ? current : null;",
    tests: OF_BLAME,
  },
  {
    rule: 'F2',
    does: 'counts those that failed as in flight',
    file: 'runtime/controller/plan/releases.ts',
    find: 'if (this.failed.has(info.node.uid) && !isPresumed(info)) return;\n    const goneAt',
    replace: 'const goneAt',
    tests: OF_BLAME,
  },
  {
    rule: 'F2',
    does: 'does not count who tries again after a failure that may have been on another version',
    file: 'runtime/controller/plan/releases.ts',
    find: ' && !isPresumed(info)',
    replace: '',
    tests: OF_BLAME,
  },
  {
    rule: 'F2',
    does: 'does not count a start that the cache does not show yet',
    file: 'runtime/controller/plan/releases.ts',
    find: 'shadow.stale || ',
    replace: '',
    tests: OF_BLAME,
  },
  {
    rule: 'F2',
    does: 'disturbs another node while the view of one that it has let through is out of date',
    file: 'runtime/controller/plan/releases.ts',
    find: 'return isLetThroughUnseen(shadow, version);',
    replace: 'return false;',
    tests: ['test/controller/plan/proof.test.ts'],
  },
  {
    rule: 'F2',
    does: 'takes a start that the cache does not show yet for one on the offer that it shows',
    file: 'runtime/controller/plan/releases.ts',
    find: 'family.inDoubt.push(info);',
    replace: 'family.tally(target).begin(info);',
    tests: OF_BLAME,
  },
  {
    rule: 'F2',
    does: 'lets everybody follow a release that nobody has proven',
    file: START_GATE,
    find: '  if (!isRetry && !release.proof.admits) return release.unproven;\n',
    replace: '',
    tests: ['test/controller/plan/failure-budget.test.ts', 'test/controller/plan/properties.test.ts'],
  },
  {
    rule: 'F3',
    does: 'lets a rewrite of the version pass every gate',
    file: 'runtime/controller/plan/starts.ts',
    find: 'const { finding, changesAt } = ownGate(info, candidate, this.#context);',
    replace:
      "const { finding, changesAt } = shadow.spec.state === 'Idle' ? ownGate(info, candidate, this.#context) : { finding: undefined, changesAt: NEVER };",
    tests: [
      'test/controller/plan/failure-budget.test.ts',
      'test/controller/plan/starts.test.ts',
      'test/controller/plan/properties.test.ts',
    ],
  },
  {
    rule: 'F5',
    does: 'counts from the end that a node states',
    file: 'runtime/controller/observations.ts',
    find: '{ since: now, lastEnd }',
    replace: '{ since: Math.min(now, lastEnd), lastEnd }',
    tests: ['test/controller/hearsay.test.ts', 'test/controller/observations.test.ts'],
  },
  {
    rule: 'F5',
    does: 'forgets what a release was blamed for when another controller follows',
    file: 'runtime/controller/plan/health.ts',
    find: 'return upToDate(status)?.reason === reason ? -Infinity : instant;',
    replace: 'return reason && status ? instant : instant;',
    tests: ['test/controller/plan/blame.test.ts', 'test/controller/hearsay.test.ts'],
  },
  {
    rule: 'F1',
    does: 'blames a release for the silence of an agent that ran when it asked for the reboot',
    file: 'runtime/controller/plan/health.ts',
    find: 'Math.max(silentSince, shadow.rebootAskedAt ?? -Infinity)',
    replace: 'silentSince',
    tests: ['test/controller/plan/blame.test.ts'],
  },
  {
    rule: 'F2',
    does: 'counts a node as lost that has said that it is back, and starts another in its place',
    file: 'runtime/controller/plan/proof.ts',
    find: "return spec.state === 'RebootedIntoUpdate' && status?.current_state === 'RebootedIntoUpdate';",
    replace: 'return false;',
    tests: ['test/controller/plan/proof.test.ts'],
  },
  {
    rule: 'F5',
    does: 'proves a release by a clock that is ahead, and later each time that its node is looked at',
    file: 'runtime/controller/observations.ts',
    find: 'return isSame ? last?.view.upToDateSince : notLater(instantOf(condition.lastTransitionTime), now);',
    replace: 'return isSame ? now : notLater(instantOf(condition.lastTransitionTime), now);',
    tests: ['test/controller/observations.test.ts'],
  },
];
