import { bootMutants } from './agent-boots.ts';
import {
  BOOTS,
  CLIENT,
  DEATH,
  DECIDE,
  EXECUTE,
  FAILURES,
  LOOP,
  REBOOT,
  REQUESTS,
  SESSION,
  STATUS,
  STATUSES,
  TRACES,
} from './agent-places.ts';
import { reportMutants } from './agent-reports.ts';
import type { Mutant } from './mutant.ts';

const FAILED_VERSIONS = 'runtime/shadow/failed-versions.ts';

/** Failures: what a release is to blame for. */
const failures: readonly Mutant[] = [
  ...["'PrepareFailed', ", "'ActivateFailed', ", ", 'BootFailed'"].map((reason) => ({
    rule: 'F1',
    without: `a release is to blame for ${reason.replaceAll(/[', ]/g, '')}`,
    file: STATUS,
    find: "new Set(['PrepareFailed', 'ActivateFailed', 'BootFailed'])",
    replace: `new Set([${"'PrepareFailed', 'ActivateFailed', 'BootFailed'".replace(reason, '')}])`,
    tests: STATUSES,
  })),
  ...['DrainFailed', 'RebootFailed', 'TargetChanged'].map((reason) => ({
    rule: 'F1',
    without: `a release is not to blame for ${reason}`,
    file: STATUS,
    find: "new Set(['PrepareFailed', 'ActivateFailed', 'BootFailed'])",
    replace: `new Set(['PrepareFailed', 'ActivateFailed', 'BootFailed', '${reason}'])`,
    tests: STATUSES,
  })),
  {
    rule: 'F1',
    without: 'a version that runs is blamed no longer',
    file: STATUS,
    find: 'without(said.failed_versions ?? [], version)',
    replace: 'said.failed_versions ?? []',
    tests: TRACES,
    name: 'trace 20',
  },
  {
    rule: 'F1',
    without: 'a failure on another version, or of the cluster, leaves the blame where it is',
    file: STATUS,
    find: 'return withFailed(failed, version);\n  return failed.length > 0 ? [...failed] : null;',
    replace: 'return [version];\n  return null;',
    tests: TRACES,
    name: 'trace 20',
  },
  {
    rule: 'F1',
    without: 'what an agent of ours left does not hide the failures of an older one',
    file: 'runtime/apiserver/status-patch.ts',
    find: 'withFailed(known, spec.version)',
    replace: 'known',
    tests: ['test/apiserver/older-agent.test.ts'],
    name: 'has its own failures on record',
  },
  {
    rule: 'F1',
    without: 'a failure of an older agent is on record once',
    file: 'runtime/apiserver/status-patch.ts',
    find: 'sent.crash_count > (before?.crash_count ?? 0)',
    replace: 'sent.crash_count > 0',
    tests: ['test/apiserver/older-agent.test.ts'],
    name: 'is blamed for nothing',
  },
  {
    rule: 'F1',
    without: 'five versions are remembered at most',
    file: FAILED_VERSIONS,
    find: '.slice(-MAX_FAILED_VERSIONS)',
    replace: '',
    tests: STATUSES,
  },
  {
    rule: 'F1',
    without: 'the oldest of more than five versions is dropped',
    file: FAILED_VERSIONS,
    find: '.slice(-MAX_FAILED_VERSIONS)',
    replace: '.slice(0, MAX_FAILED_VERSIONS)',
    tests: STATUSES,
  },
  {
    rule: 'F1',
    without: 'a target that changed is no crash',
    file: STATUS,
    find: "const crash = failure.reason !== 'TargetChanged';",
    replace: 'const crash = true;',
    tests: STATUSES,
  },
];

/** What slots and marks need of the agent. */
const marks: readonly Mutant[] = [
  {
    rule: 'L3',
    without: 'a node at rest was released before it says so',
    file: EXECUTE,
    find: '    await deactivate(session, signal);\n    await release(session, signal);',
    replace: '    await deactivate(session, signal);',
    tests: FAILURES,
    name: 'ActivateFailed',
  },
  {
    rule: 'M1',
    without: 'a request says in which boot it is made',
    file: CLIENT,
    find: '    [HEADERS.bootId]: caller.bootId,\n',
    replace: '',
    tests: REQUESTS,
  },
  {
    rule: 'M2',
    without: 'a drain that was superseded is asked for again',
    file: CLIENT,
    find: "  503: 'again',\n",
    replace: '',
    tests: REQUESTS,
  },
  {
    rule: 'M3',
    without: 'the drain is looked at once more before the reboot',
    file: REBOOT,
    find: "  await session.act('cordonAndDrain', signal);\n  await record(",
    replace: '  await record(',
    tests: ['test/agent/update.test.ts'],
  },
  {
    rule: 'M4',
    without: 'the deadline of a drain ends the attempt as DrainFailed',
    file: SESSION,
    find: " || answer.kind === 'deadline'",
    replace: '',
    tests: FAILURES,
    name: 'whose deadline has passed',
  },
  {
    rule: 'a drain has somebody who waits for it',
    without: 'the short pause after an answer that was long in coming',
    file: SESSION,
    find: '      if (clock.monotonic() - asked >= PAUSES.maxMs) attempt = 0;\n',
    replace: '',
    tests: ['test/agent/blocked-drain.test.ts'],
  },
  {
    rule: 'M4',
    without: 'what is on the node stays until spec is Idle',
    file: LOOP,
    find: '  await session.report((view) => failing(view, failure, time), signal);',
    replace:
      "  await session.act('uncordon', signal);\n  await session.report((view) => failing(view, failure, time), signal);",
    tests: FAILURES,
    name: 'whose deadline has passed',
  },
  {
    rule: 'M8',
    without: 'an agent that finds Idle wanted reports Idle, whatever its status was',
    file: DECIDE,
    find: "  if (spec.state === 'Idle') return atRest(status);\n",
    replace:
      "  if (spec.state === 'Idle' && status.current_state !== 'StagedAndPerformedUpdate') return atRest(status);\n",
    tests: DEATH,
  },
  {
    rule: 'M8',
    without: 'an agent that finds Idle wanted clears the record',
    file: STATUS,
    find: "current_state: 'Idle', reboot: null }",
    replace: "current_state: 'Idle' }",
    tests: DEATH,
  },
  {
    rule: 'M8',
    without: 'a step that is no longer wanted ends at once',
    file: LOOP,
    find: "if (!sameStep(decide(view.value), step)) life.abort(new SupersededError('another step is wanted'));",
    replace: '',
    tests: BOOTS,
    name: 'called off',
  },
];

export const agentMutants: readonly Mutant[] = [...bootMutants, ...reportMutants, ...failures, ...marks];
