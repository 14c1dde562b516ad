import { rowsOf } from './rows.ts';

/** Rules L3 and L6, as far as the plan keeps them: who takes a place, and for how long. */
export const placeMutants = [
  ...rowsOf(
    'plan/slots.ts',
    ['plan/recovery', 'leaders'],
    [
      [
        'L3(1a)',
        'takes a node for idle on a view from before its own write',
        'if (shadow.stale) return undefined;',
        '',
      ],
      [
        'L3(1a)',
        'gives back the slot of a node that is not idle',
        "if (isIdle(shadow)) return 'idle';",
        "return 'idle';",
      ],
      [
        'L3(1c)',
        'gives back the slot of a shadow that is gone while its agent runs',
        "return silentSince === undefined ? undefined : 'shadow-gone';",
        "return 'shadow-gone';",
      ],
      [
        'L3(1d)',
        'keeps the slot of a node that was rescued',
        "isRescued(subject, health) ? 'rescued' : undefined",
        'undefined',
      ],
      ['L4', 'bumps nothing', "if (writes === 'unknown') return { kind: 'bump', shadow, nodeUid };", ''],
    ],
  ),
  ...rowsOf(
    'plan/places.ts',
    ['plan/starts', 'plan/properties'],
    [
      [
        'L6',
        'does not count slots',
        'this.#taken = new Set(slots.map(({ nodeUid }) => nodeUid));',
        'this.#taken = new Set();',
      ],
      ['L6', 'does not count active shadows of unknown nodes', '[...strays, ...outages.keys()]', 'outages.keys()'],
      ['L6', 'does not count nodes that are not Ready', '[...strays, ...outages.keys()]', 'strays'],
      ['L6', 'starts whatever the concurrency', 'if (short > 0) {', 'if (short === Infinity) {'],
      [
        'L6',
        'counts every other start not at all',
        'this.#taken.add(nodeUid);\n    this.#room',
        'if (this.#taken.size % 2 === 0) this.#taken.add(nodeUid);\n    this.#room',
      ],
      ['L6', 'counts a node twice that has its slot', 'Number(!this.#taken.has(nodeUid))', '1'],
      [
        'L6',
        'counts nobody that is active or marked',
        'if (isOccupied(subject)) this.#taken.add(uid);\n      else if',
        'if',
      ],
    ],
  ),
  ...rowsOf(
    'plan/recovery.ts',
    ['plan/starts', 'plan/reference', 'plan/stalled', 'traces'],
    [
      [
        'L6',
        'does not count marks',
        'const { node, shadow } = subject;\n  if (node.marks) return true;',
        'const { shadow } = subject;',
      ],
      [
        'L6',
        'does not count active shadows',
        'return shadow !== undefined && isActive(shadow) && !isLeftOver(subject);',
        'return false;',
      ],
      ['L6', 'counts those that were rescued', ' && !isLeftOver(subject)', ''],
    ],
  ),
  ...rowsOf(
    'plan/starts.ts',
    ['plan/starts', 'plan/alarms', 'plan/properties'],
    [
      ['L4', 'starts a node whose last start is in doubt', "slot?.writes !== 'unknown'", 'true'],
      ['L6', 'starts on a view from before its own write', '!shadow.stale && !node.marks', '!node.marks'],
      ['L6', 'starts a node that is still being cleaned up', '!shadow.stale && !node.marks', '!shadow.stale'],
    ],
  ),
  ...rowsOf(
    'plan/gates.ts',
    ['plan/second-gate', 'plan/properties', 'traces'],
    [
      ['L8', 'drains a staged node that is held', "if (node.held) return { kind: 'call-off', because: HELD };", ''],
      [
        'L8',
        'drains staged nodes for a release that was halted',
        "if (refusal) return { kind: 'call-off', because: refusal };",
        '',
      ],
      [
        'L8',
        'drains staged nodes under a pause',
        "if (keeper.snapshot.paused) return { kind: 'wait', because: PAUSED };",
        '',
      ],
      [
        'L8',
        'calls off under a pause what may go on after it',
        "{ kind: 'wait', because: PAUSED }",
        "{ kind: 'call-off', because: PAUSED }",
      ],
      [
        'L8',
        'stops nodes that are on their way into their reboot',
        'if (!shadow || !isStaged(shadow)) return undefined;',
        "if (!shadow || shadow.status?.current_state !== 'StagedAndPerformedUpdate') return undefined;",
      ],
    ],
  ),
  ...rowsOf(
    'plan/gates.ts',
    ['plan/second-gate', 'refused-drain'],
    [
      [
        'L8',
        'leaves a node its place for as long as its drain is refused',
        'alarm.reached(refusal.since + REFUSED_MS)',
        'alarm.reached(Infinity)',
      ],
      [
        'L8',
        'starts a node at once that was called off because its drain is refused',
        "if (refusal?.kind !== 'called-off' || alarm.reached(refusal.retryAt)) return undefined;",
        "if (refusal?.kind !== 'called-off' || alarm.now > 0) return undefined;",
      ],
    ],
  ),
  ...rowsOf(
    'plan/plan.ts',
    ['plan/second-gate'],
    [
      [
        'L8',
        'calls off nodes whose drain is refused though nobody waits',
        'const isRefusable = waiting && !health.agentSilent',
        'const isRefusable = !health.agentSilent',
      ],
    ],
  ),
  ...rowsOf(
    'actions/call-off.ts',
    ['refused-drain'],
    [
      ['L8', 'calls off a node whose drain has begun', '!isUndisturbed(live, readMarks(node))', '!live.status'],
      [
        'L8',
        'calls off what has changed since the look at it',
        'resourceVersion: live.resourceVersion,',
        'resourceVersion: undefined!,',
      ],
    ],
  ),
  ...rowsOf(
    'plan/machine.ts',
    ['plan/second-gate', 'plan/properties', 'refused-drain'],
    [
      ['L8', 'calls off a node whose reboot is asked for', '!marks && status.reboot?.requested_at == null', '!marks'],
      [
        'L8',
        'calls off a node that bears marks',
        '!marks && status.reboot?.requested_at == null',
        'status.reboot?.requested_at == null',
      ],
      [
        'L8',
        'forgets the version of what it calls off',
        "return { state: 'Idle', version: spec.version ?? null, state_transition_timestamp: now };",
        "return { ...spec, state: 'Idle', version: null, state_transition_timestamp: now };",
      ],
    ],
  ),
  ...rowsOf(
    'expectations.ts',
    ['expectations'],
    [
      [
        'L6',
        'takes an older acknowledgement for the newest',
        'if (known !== undefined && isAsNewAs(known, resourceVersion)) return;',
        '',
      ],
      [
        'L6',
        'takes only its own version for up to date',
        '!isAsNewAs(resourceVersion, wanted)',
        'resourceVersion !== wanted',
      ],
      [
        'L6',
        'forgets what it wrote where the cache does not show the shadow yet',
        'for (const name of this.#seen) {',
        'for (const name of this.#versions.keys()) {',
      ],
    ],
  ),
  ...rowsOf(
    'world.ts',
    ['leaders'],
    [['L6', 'takes every view for up to date', 'stale: this.#expectations.isStale(shadow)', 'stale: false']],
  ),
];
