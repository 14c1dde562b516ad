import { type Mutant, mutantsOf } from './mutant.ts';

const GATES = 'runtime/controller/plan/gates/gates.ts';
const GATE_TESTS = ['test/controller/plan/second-gate.test.ts', 'test/controller/plan/starts.test.ts'];
/** What tries whom a release is blamed on. */
const OF_BLAME = [
  'test/controller/plan/failure-budget.test.ts',
  'test/controller/plan/blame.test.ts',
  'test/controller/plan/properties.test.ts',
];

/** Rules B, C and F: what happened to a host, what older clients may not destroy, and what a release is to blame for. */
export const failureMutants: readonly Mutant[] = [
  ...mutantsOf('runtime/api/shadow/convert.ts', ['test/apiserver/older-clients.test.ts'], {
    'C1: takes v2 back though an older controller has written the spec': ['isSame(spec, given.spec, SPEC_V1) && ', ''],
    'C2: leaves the annotation on a v2 object': ['...annotated(shadow, others)', '...shadow'],
    'C1: gives out v1 without what v1 has no field for': [
      '{ ...others, [CONVERSION_DATA_ANNOTATION]: JSON.stringify(parts) }',
      'others',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/ends.ts', OF_BLAME, {
    'F1: does not blame a version for a node that does not return': [
      'if (health.notReturned && spec.version != null) return',
      "if (health.notReturned && spec.version === '') return",
    ],
  }),
  ...mutantsOf(GATES, [...OF_BLAME, 'test/controller/plan/starts.test.ts'], {
    'F1: lets no node retry that has failed on a release which is halted': [
      'if (!release?.isHalted || (isRetry && !wouldLeave(asking))) return PASS;',
      'if (!release?.isHalted) return PASS;',
    ],
  }),
  ...mutantsOf('runtime/agent/status.ts', ['test/agent/status.test.ts'], {
    'F1: forgets what a node failed on once it fails for another reason': [
      'return known.length > 0 ? [...known] : null;',
      'return null;',
    ],
    'F1: forgets what a node failed on once it fails on another version': [
      'return withFailed(known, version);',
      'return [version];',
    ],
    'F1: forgets what a node failed on once it tries another version': [
      '    ...currentStatus(view),\n    current_state: state,\n',
      '    ...currentStatus(view),\n    failed_versions: null,\n    current_state: state,\n',
    ],
  }),
  ...mutantsOf(
    'runtime/controller/plan/nodes/blame.ts',
    ['test/controller/plan/blame.test.ts', 'test/controller/plan/failure-budget.test.ts'],
    {
      'F1: counts a failure that is on record against what its node tries since': [
        'const isPresumedOf = isFailureUnrecorded(status) &&',
        'const isPresumedOf = status.crash_count > 0 &&',
      ],
    },
  ),
  ...mutantsOf(GATES, ['test/controller/plan/unasked-boots.test.ts'], {
    'B9: updates a node again to the release that it has left unasked': [
      'boot && boot.version === version ?',
      'boot && version === undefined ?',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/answer/judge.ts', ['test/controller/plan/verdicts.test.ts'], {
    'B10: takes a host that cannot look for updates for one that has none to take': [
      'if (endsAt > now) return own;',
      'if (endsAt > 0) return own;',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/releases/releases.ts', OF_BLAME, {
    'F2: counts those that failed as in flight': [
      'if (this.book.failed.has(info.node.uid)) return;\n    const goneAt',
      'const goneAt',
    ],
    'F2: takes a start that the cache does not show yet for one on the offer that it shows': [
      'family.inDoubt.push(info);',
      'family.tally(target).move(info);',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/in-flight.ts', OF_BLAME, {
    'F2: does not count a start that the cache does not show yet': ['shadow.stale || ', ''],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/in-flight.ts', ['test/controller/plan/proof.test.ts'], {
    'F2: disturbs another node while the view of one that it has let through is out of date': [
      'return shadow?.stale === true && shadow.spec.version === version;',
      'return false;',
    ],
  }),
  ...mutantsOf(
    'runtime/controller/plan/gates/others.ts',
    ['test/controller/plan/failure-budget.test.ts', 'test/controller/plan/properties.test.ts'],
    {
      'F2: lets everybody follow a release that nobody has proven': [
        "unproven = untilRoom('moving', false);",
        'unproven = (): GateResult => PASS;',
      ],
    },
  ),
  ...mutantsOf(
    'runtime/controller/plan/gates/starts.ts',
    [
      'test/controller/plan/failure-budget.test.ts',
      'test/controller/plan/starts.test.ts',
      'test/controller/plan/properties.test.ts',
    ],
    {
      'L1: lets a rewrite of the version pass every gate': [
        'const own = firstOf(asking, this.#world, questions);',
        "const own = firstOf(asking, this.#world, asking.shadow.spec.state === 'Idle' ? questions : []);",
      ],
    },
  ),
  ...mutantsOf('runtime/controller/plan/nodes/health.ts', ['test/controller/plan/blame.test.ts'], {
    'F5: gives a reboot its whole time again under each new leader': [
      'Math.min(shadow.rebootAskedAt, permit?.rebootAskedAt ?? Infinity)',
      'shadow.rebootAskedAt',
    ],
    'F1: blames a release for the silence of an agent that ran when it asked for the reboot': [
      'Math.max(silentSince, rebootAskedAt(info) ?? -Infinity)',
      'silentSince',
    ],
    'F1: does not count a node that is back without its agent': [
      'const alone = unreportedSince(info);',
      'const alone = unreportedSince({ ...info, silentSince: undefined });',
    ],
  }),
  ...mutantsOf('runtime/controller/deciding/planner.ts', ['test/controller/clock-jumps.test.ts'], {
    'F5: waits until the time has come that a clock which was ahead has left in a ledger': [
      'this.#ledgerTimes.see(objects, moment)',
      'objects',
    ],
  }),
  ...mutantsOf(
    'runtime/controller/seeing/silences.ts',
    ['test/controller/hearsay.test.ts', 'test/controller/observations.test.ts'],
    {
      'F5: counts from the end that a node states': [
        '{ uid, since: now, lastEnd }',
        '{ uid, since: Math.min(now, lastEnd), lastEnd }',
      ],
      'F5: counts an end without a time as one in 1970': [
        '{ uid, since: now, lastEnd }',
        '{ since: lastEnd === -Infinity ? 0 : now, lastEnd }',
      ],
    },
  ),
  ...mutantsOf(
    'runtime/controller/plan/nodes/trial.ts',
    ['test/controller/plan/blame.test.ts', 'test/controller/hearsay.test.ts'],
    {
      'F5: forgets what a release was blamed for when another controller follows': [
        'return conditionUpToDate(status)?.reason === reason ? -Infinity : instant;',
        'return reason && status ? instant : instant;',
      ],
    },
  ),
  ...mutantsOf('runtime/controller/plan/facts/phase.ts', ['test/controller/plan/proof.test.ts'], {
    'F2: counts a node as lost that has said that it is back, and starts another in its place': [
      "phase.kind === 'failed' ? phase.step === 'MonitoringUpdate' : PHASES[phase.kind].isBlamed;",
      "phase.kind === 'rebooting';",
    ],
  }),
  ...mutantsOf('runtime/controller/seeing/observations.ts', ['test/controller/observations.test.ts'], {
    'F5: proves a release by a clock that is ahead, and later each time that its node is looked at': [
      'return isSame ? known : notLater(instantOf(condition.lastTransitionTime), now);',
      'return isSame ? now : notLater(instantOf(condition.lastTransitionTime), now);',
    ],
  }),
  ...mutantsOf('runtime/controller/seeing/caches.ts', ['test/controller/clock-jumps.test.ts'], {
    'F5: measures durations by a wall clock that is set': [
      'if (this.#ready && this.#observations.follow(moment))',
      'if (this.#observations.follow(moment) && !this.#ready)',
    ],
  }),
  ...mutantsOf(GATES, GATE_TESTS, {
    'F1: halts no release': [
      'if (!release?.isHalted || (isRetry && !wouldLeave(asking))) return PASS;',
      'if (!release?.isHalted || isRetry || release.family) return PASS;',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/facts/phase.ts', ['test/controller/plan/blame.test.ts'], {
    'F1: takes a probe for a request to reboot': [
      'return reboot.requested_at != null && reboot.version === spec.version ?',
      'return reboot.version === spec.version ?',
    ],
    'F1: blames a release for a node that goes away in its drain': [
      'if (marks && marks.drained === undefined) return undefined;',
      '',
    ],
  }),
  ...mutantsOf('runtime/agent/status.ts', ['test/agent/boots.test.ts'], {
    'B1: leaves the record where the node is at rest': [
      "current_state: 'Idle', reboot: null }",
      "current_state: 'Idle' }",
    ],
  }),
  ...mutantsOf('runtime/agent/steps/reboot.ts', ['test/agent/boots.test.ts'], {
    'B1: reboots though its step was called off while the record was written': ['  signal.throwIfAborted();\n', ''],
  }),
  ...mutantsOf('runtime/agent/decide.ts', ['test/agent/decide.test.ts'], {
    'B2: takes the record of another version for that of this one': [
      'reboot?.requested_at != null && reboot.version === version;',
      'reboot?.requested_at != null;',
    ],
  }),
  ...mutantsOf('runtime/apiserver/auth/authenticator.ts', ['test/apiserver/auth/authenticator.test.ts'], {
    'B5: takes an agent for the one that it says it is': [
      "      throw new RefusedError(403, 'Forbidden', 'the token belongs to an agent on another node');",
      '      return { nodeName, nodeUid, bootId };',
    ],
  }),
  ...mutantsOf('runtime/agent/apiserver/retrying-client.ts', ['test/agent/refused-status.test.ts'], {
    'B8: reduces a status at the first refusal': ['REJECTED_MS = 120_000', 'REJECTED_MS = 0'],
    'B8: reduces a status that nobody has refused': [
      "?.note(answer.kind === 'rejected')",
      "?.note(answer.kind !== 'ok')",
    ],
  }),
  ...mutantsOf('runtime/agent/status.ts', ['test/agent/failing-paths.test.ts'], {
    'F1: blames a release for a drain that failed': [
      "['PrepareFailed', 'BootFailed', ",
      "['PrepareFailed', 'BootFailed', 'DrainFailed', ",
    ],
  }),
  ...mutantsOf('runtime/controller/plan/releases/well.ts', ['test/controller/plan/blame.test.ts'], {
    'F2: takes for a proof what is not Ready or has no agent': [
      '  if (!isSettled && (!node.ready || silentSince !== undefined)) return NEVER;\n',
      "  if (!isSettled && (node.name === '' || silentSince === 0)) return NEVER;\n",
    ],
  }),
  ...mutantsOf(
    'runtime/controller/seeing/observations.ts',
    ['test/controller/hearsay.test.ts', 'test/controller/observations.test.ts'],
    {
      'F5: counts the return of a node by a clock that is twenty minutes behind': [
        'request === last?.request ? last.view.rebootAskedAt : now;',
        'request === last?.request ? last.view.rebootAskedAt : now - 1_200_000;',
      ],
    },
  ),
  ...mutantsOf('runtime/controller/plan/releases/provers.ts', ['test/controller/plan/proof.test.ts'], {
    'F2: waits for a node to prove a release whose drain never gets on': ['Math.min(goneAt, stuckAt)', 'goneAt'],
  }),
];
