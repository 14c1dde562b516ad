import { type Mutant, mutantsOf } from './mutant.ts';

const GATES = 'runtime/controller/plan/gates/gates.ts';
const OTHERS = 'runtime/controller/plan/gates/others.ts';
const PROPERTIES = ['test/controller/plan/policies.test.ts'];
const RULINGS = 'runtime/controller/plan/facts/rulings.ts';
const RELEASES = 'runtime/controller/plan/releases/releases.ts';

/** Rules P: what a policy says of the nodes that it rules, one mutant for each gate. */
export const policyMutants: readonly Mutant[] = [
  ...mutantsOf(RULINGS, PROPERTIES, {
    'P1: lets the first of two policies of the same priority rule': [
      'if (highest !== undefined && priority !== highest) break;',
      'if (highest !== undefined) break;',
    ],
    'P1: obeys policies that wait for each other': [
      'const cycle = policy.name === undefined ? undefined : cycles.get(policy.name);',
      'const cycle = cycles.get(undefined);',
    ],
  }),
  ...mutantsOf(RULINGS, ['test/controller/plan/remembered.test.ts'], {
    'P1: goes by the policies of the plan before': [
      'last?.claims.areOf(policies) ? last.claims :',
      'last ? last.claims :',
    ],
  }),
  ...mutantsOf(GATES, PROPERTIES, {
    'P1: starts what a policy rules that cannot be obeyed': ['against ?? (rules.paused ?', '(rules.paused ?'],
    'P4: starts nodes in a freeze': ["ask: byTime('freeze'),", 'ask: () => PASS,'],
    'P4: disturbs nodes in a freeze': [
      "again: 'call-off', ask: byTime('freeze'),",
      "again: undefined, ask: byTime('freeze'),",
    ],
    'P4: does not call off what a paused policy has staged': [
      "again: 'call-off', ask: byPolicy",
      'again: undefined, ask: byPolicy',
    ],
    'P4: starts nodes before the pause after the last update is over': [
      "...forPods(byTime('pause')),",
      '...forPods(() => PASS),',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/fleet.ts', PROPERTIES, {
    'P1: starts nodes while nobody knows the policies': [
      'return rulings.unknown ? stoppedBy(rulings.unknown) : PASS;',
      'return PASS;',
    ],
  }),
  ...mutantsOf(OTHERS, PROPERTIES, {
    'P2: does not keep the budget of a policy': ["['budget', WAITING_IN_POLICY", "['all', WAITING_IN_POLICY"],
    'P2: does not keep the budget over all policies': ["['all', CAPPED", "['budget', CAPPED"],
    'P3: works on all zones at once': [
      'if (!group || group.rules.zones.atOnce === Infinity) return PASS;',
      'if (!group || group.rules.zones.atOnce > 0) return PASS;',
    ],
    'P5: starts nodes on what is not complete where it has to come first': [
      'const here = dependencies.of(group, release);',
      'const here = PASS;',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/groups/groups.ts', ['test/controller/plan/rulings.test.ts'], {
    'P3: takes a node that several policies claim for one that is busy nowhere': [
      'return group ? [group] : info.ruling.rivals.flatMap((rival) => this.#byPolicy.get(rival) ?? []);',
      'return group ? [group] : [];',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/windows.ts', PROPERTIES, {
    'P4: starts nodes outside of the windows of their policy': [
      ' ? undefined : group.closed;',
      ' ? undefined : undefined;',
    ],
  }),
  ...mutantsOf(RELEASES, ['test/controller/plan/dependencies.test.ts'], {
    'P5: takes for complete what is halted where it has to come first': [
      'this.#isAwaited || this.isHalted || ',
      'this.#isAwaited || ',
    ],
    'P5: takes for skipped what a node runs and is unwell with where it has to come first': [
      'if (current === target) running.isOffered = true;\n    else ',
      'if (current !== target) ',
    ],
  }),
  ...mutantsOf('runtime/kube/reflector.ts', ['test/controller/policies.test.ts'], {
    'P7: takes any 404 for a cluster without policies': [
      'return !(await isServed(signal).catch(() => true));',
      'return !(await isServed(signal).catch(() => false));',
    ],
  }),
  ...mutantsOf(
    'runtime/controller/telling/policy-status.ts',
    ['test/controller/policy-status.test.ts', 'test/controller/update-policies.test.ts'],
    {
      'P8: forgets that a release was complete once a node waits for it': [
        'completedAt: stamp(before?.completedAt, complete),',
        'completedAt: stamp(complete ? before?.completedAt : null, complete),',
      ],
    },
  ),
  ...mutantsOf('runtime/controller/writing/write-queue.ts', ['test/controller/write-queue.test.ts'], {
    'P8: writes a status that was made of an older one than it has written': [
      'return made !== undefined && seen !== undefined && !isAsNewAs(seen, made);',
      'return made !== undefined && seen !== undefined && seen === made;',
    ],
  }),
  ...mutantsOf('runtime/controller/seeing/observations.ts', ['test/controller/observations.test.ts'], {
    'P4: pauses after an update that was called off before its node was disturbed': [
      '(isUnderWay(before) && !untouched)',
      '(isUnderWay(before) && (untouched || !untouched))',
    ],
    'P4: pauses after an update whose version was offered no more before its node was disturbed': [
      'isOfferVoid(facts) || ',
      '',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/turns.ts', ['test/controller/plan/starts.test.ts'], {
    'P6: starts what has failed on it as if it had not': ['(shadow.status?.crash_count ?? 0) : -1', '0 : -1'],
    'P6: disturbs the node of the controller in its turn': [
      'node.name === settings.ownNode &&',
      'node.name === undefined &&',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/pauses.ts', ['test/controller/plan/requests.test.ts'], {
    'P9: lets a node fail again and again for one request to try again': [
      'if (isRetried(info.node, status)) return PASS;',
      'if (info.node.retryOf !== undefined) return PASS;',
    ],
  }),
  ...mutantsOf(
    'runtime/controller/plan/gates/starts.ts',
    ['test/controller/plan/hints.test.ts', 'test/controller/hints.test.ts'],
    {
      'H3: does not say what a node ran when its update began': [
        '...(status && { [UPDATED_FROM_ANNOTATION]: status.current_version }),',
        '...(shadow.status && { [UPDATED_FROM_ANNOTATION]: shadow.status.target_version }),',
      ],
    },
  ),
  ...mutantsOf(
    'runtime/controller/plan/gates/starts.ts',
    ['test/controller/plan/way-back.test.ts', 'test/controller/wishes.test.ts'],
    {
      'H3: forgets what a node came from at a start that leads to no other version': [
        'shadow.updatedFrom ?? null',
        'null',
      ],
    },
  ),
  ...mutantsOf('runtime/controller/plan/gates/others.ts', ['test/controller/plan/way-back.test.ts'], {
    'P11: has nodes go back one by one, because the version before is yet to be proven': [
      '!release || isRetry || isArriving || isBack(asking) ?',
      '!release || isRetry || isArriving ?',
    ],
  }),
  ...mutantsOf(GATES, ['test/controller/plan/way-back.test.ts', 'test/controller/wishes.test.ts'], {
    'P12: lets a node that went back try the release again that it has left': [
      '(isRetry && !wouldLeave(asking))',
      'isRetry',
    ],
  }),
  ...mutantsOf(
    'runtime/controller/plan/facts/machine.ts',
    ['test/controller/plan/starts.test.ts', 'test/controller/plan/machine.test.ts'],
    {
      'B7: takes an offer that is withdrawn for a start': [
        "status?.current_state !== 'Idle' || status.target_version === status.current_version",
        "status?.current_state !== 'Idle' || (spec.state === 'Idle' && status.target_version === status.current_version)",
      ],
    },
  ),
  ...mutantsOf('runtime/controller/plan/groups/busy.ts', ['test/controller/plan/unhealthy.test.ts'], {
    'L8: disturbs nodes while too many of the fleet are not Ready': [
      'if (down.length <= limit) return undefined;',
      'if (down.length <= limit * 10) return undefined;',
    ],
  }),
  ...mutantsOf('runtime/controller/telling/notifications/state.ts', ['test/controller/notifications/state.test.ts'], {
    'L10: tells on though another leader remembers by now what was told': [
      'if (data?.[LEADER] !== this.#leader) await',
      'if (data === null) await',
    ],
  }),
  ...mutantsOf('runtime/api/k3os/offer.ts', ['test/controller/k3os/channels.test.ts'], {
    'P10: obeys the first of two channels': ['  if (others.length > 0)\n', '  if (others.length > 1)\n'],
  }),
];
