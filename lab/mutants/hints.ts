import { type Mutant, mutantsOf } from './mutant.ts';

/** Rules H: what is prepared ahead, and places that are given back. */
export const hintMutants: readonly Mutant[] = [
  ...mutantsOf('runtime/agent/steps/stage.ts', ['test/agent/ahead.test.ts'], {
    'H1: leaves on record what the next download writes over': [
      'if (view.value.shadow?.status?.staged?.version != null) await apiserver.report(nothingStaged, signal);',
      '',
    ],
    'H1: leaves on record what it writes over because an activation was cut off': [
      '    if (host.isCutOff) await forgetStaged(this.#context, signal);\n',
      '',
    ],
  }),
  ...mutantsOf('runtime/agent/steps/steps.ts', ['test/agent/ahead.test.ts'], {
    'H1: leaves on record what it writes over as an update is taken back': [
      'if (host.isCutOff) await',
      'if (false) await',
    ],
  }),
  ...mutantsOf('runtime/apiserver/drain/ahead.ts', ['test/apiserver/drain/ahead.test.ts'], {
    'H1: looks at nobody at rest for pods that no eviction can move': [
      " || (reached === 'Idle' && offered !== current)",
      '',
    ],
  }),
  ...mutantsOf(
    'runtime/controller/plan/gates/starts.ts',
    ['test/controller/plan/hints.test.ts', 'test/controller/hints.test.ts'],
    {
      'H2: leaves what a node was named when its update begins': ['...(hint && { [STAGE_ANNOTATION]: null }),', ''],
    },
  ),
  ...mutantsOf('runtime/controller/plan/gates/hints.ts', ['test/controller/plan/hints.test.ts'], {
    'H2: lets a hint that shows nothing keep its place for ever': ['overdueAt(info) <= now || (', '('],
    'H2: names nodes of the last policy first, whose turn comes last': [
      'for (const group of world.groups.all) {',
      'for (const group of world.groups.all.toReversed()) {',
    ],
    'H2: names more nodes than may prepare ahead': [
      ') <= 0) ? claims : undefined',
      ') <= Infinity) ? claims : undefined',
    ],
    'H2: names nodes whose agents prepare nothing at rest': [
      'if (shadow?.status?.staged == null || shadow.spec',
      'if (!shadow || shadow.spec',
    ],
    'H2: names nodes whatever keeps them from their update': [
      'return mayPrepare(kept[info.at] ?? {});',
      'return true;',
    ],
    'H2: lets hints go round': ['new Set(right.filter(', 'new Set([].filter('],
  }),
  ...mutantsOf('runtime/controller/plan/gates/hints.ts', ['test/controller/plan/giving-way.test.ts'], {
    'H2: has nodes that cannot be drained use up what may be prepared ahead': [
      ' || (info.shadow !== undefined && isBlockedAhead(info.node, info.shadow))',
      '',
    ],
    'H2: has each node that cannot be drained prepare its update, as many as there are': [
      'isStagedAhead(node, shadow) && isFoundBlocked(shadow)',
      'isFoundBlocked(shadow)',
    ],
    'H2: has nodes prepare their update that cannot be drained': ['shadow && !isKnownBlocked(shadow, now)', 'shadow'],
  }),
  ...mutantsOf('runtime/controller/plan/gates/blocked.ts', ['test/controller/plan/giving-way.test.ts'], {
    'P6: believes for ever that a node cannot be drained': ['(shadow.lookedAt ?? -Infinity) + BELIEVED_MS', 'NEVER'],
  }),
  ...mutantsOf('runtime/controller/plan/gates/giving-way.ts', ['test/controller/plan/giving-way.test.ts'], {
    'L8: drains a node that was found blocked, though another could be drained in its place': [
      'if (blocked.length === 0) return [];',
      'if (blocked.length >= 0) return [];',
    ],
    'L8: calls off a node that was found blocked for one that cannot start in its place': [
      'return firstOf(heir, { ...world, given: left }, OTHERS).finding === undefined;',
      'return true;',
    ],
    'L8: calls off a node that was found blocked for that which the controller runs on, and that comes after it': [
      ' || isLast(heir, world)',
      '',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/gates.ts', ['test/controller/plan/giving-way.test.ts'], {
    'L8: starts a node that was called off with the permit that it has, before those that it comes after': [
      ' || wasCalledOff(shadow, version)',
      '',
    ],
  }),
  ...mutantsOf('runtime/controller/writing/actions/specs.ts', ['test/controller/refused-drain.test.ts'], {
    'L8: calls off a drain that a replica of the older operator may begin': [
      'isAsked && !(await drainsAreOurs(ports, signal))',
      'false',
    ],
  }),
];
