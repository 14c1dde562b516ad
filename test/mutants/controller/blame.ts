import { rowsOf } from './rows.ts';

/** Rules F1 and F5: what tells that a reboot was asked for, and by whose clock that counts. */
export const blameMutants = [
  ...rowsOf(
    'plan/reboots.ts',
    ['plan/recovery', 'plan/blame'],
    [
      [
        'B2',
        'takes a probe for the record of a requested reboot',
        'requested_at != null;',
        'requested_at !== null || true;',
      ],
      [
        'F1',
        'takes a node in its drain for one that reboots',
        'marks !== undefined && marks.drained === undefined',
        'false',
      ],
      [
        'F1',
        'takes the end of the drain for the request of an agent that keeps records',
        'if (!reboot) return unrecordedRequest(node);',
        'if (!reboot || !isRequest(reboot)) return unrecordedRequest(node);',
      ],
      [
        'F1',
        'goes by a record for another version',
        'isRequest(reboot) && reboot.version === spec.version &&',
        'isRequest(reboot) &&',
      ],
      ['F1', 'goes by a record that a rescue has left', "spec.state !== 'RebootedIntoUpdate' || !status", '!status'],
      ['F1', 'blames for a reboot of which the agent has told', ' || OVER.has(status.current_state)', ''],
      [
        'F1',
        'does not see by its kubelet that a host is back',
        'version !== undefined && version === spec.version && version !== status.current_version',
        'version === null',
      ],
      [
        'F1',
        'does not see by its boot that a host is back',
        'return rebootAskedAt !== undefined && isAnotherBoot(bootId, status.reboot?.boot_id ?? marks?.boot);',
        'return false;',
      ],
    ],
  ),
  ...rowsOf(
    'views.ts',
    ['hearsay'],
    [
      [
        'null',
        'takes an end of which nobody knows when it was for one long ago',
        'instantOf(lastState?.terminated?.finishedAt) ?? []',
        'Date.parse(lastState?.terminated?.finishedAt as string)',
      ],
    ],
  ),
  ...rowsOf(
    'observations.ts',
    ['hearsay', 'observations'],
    [
      [
        'clocks',
        'counts from the end that a node states',
        '{ since: now, lastEnd }',
        '{ since: Math.min(now, lastEnd), lastEnd }',
      ],
      [
        'M8c',
        'remembers a silence that was interrupted',
        'before && lastEnd <= before.lastEnd ? before',
        'before ? before',
      ],
      ['clocks', 'waits for a time to come of another clock', 'Math.min(stated ?? seen, seen)', '(stated ?? seen)'],
      [
        'clocks',
        'begins a backoff anew with each controller',
        'Math.min(stated ?? seen, seen)',
        'Math.max(stated ?? seen, seen)',
      ],
      [
        'clocks',
        'goes by when a node says that it became Ready',
        'return { ...node, readinessSeenAt, readyChangedAt:',
        'return { ...node, readinessSeenAt: stated ?? now, readyChangedAt:',
      ],
      ['clocks', 'counts a readiness as new at each look', 'isSame ? last.view.readinessSeenAt : now', 'now'],
      [
        'clocks',
        'counts the states of a shadow as new at each change of it',
        'last && inSameStates(last.facts, facts) ? last.view.stateSeenAt : now',
        'now',
      ],
      [
        'clocks',
        'counts a request for a reboot as new at each change of the shadow',
        'request === last?.request ?',
        'request === undefined ?',
      ],
    ],
  ),
  ...rowsOf(
    'plan/gates.ts',
    ['plan/blame'],
    [
      [
        'F1',
        'sends a staged node on that is down',
        "return node.ready ? undefined : { kind: 'wait', because: NOT_READY };",
        'return undefined;',
      ],
    ],
  ),
  ...rowsOf(
    'plan/health.ts',
    ['plan/blame', 'hearsay'],
    [
      [
        'return',
        'takes a node that is Ready for lost',
        'node.ready ? alone : (shadow.rebootAskedAt ?? alone)',
        'shadow.rebootAskedAt ?? alone',
      ],
      [
        'return',
        'does not miss an agent that does not come back',
        'isBackUnreported(node, shadow) ? silentSince : undefined',
        'undefined',
      ],
      [
        'soak',
        'lets a node that has finished fail whenever it likes',
        'readinessSeenAt <= finishedAt + PROBATION_MS && alarm',
        'alarm',
      ],
      ['soak', 'forgets a node that has finished', 'isIdle(shadow) ? relapseOf : soakOf', 'soakOf'],
      [
        'clocks',
        'forgets what a release was blamed for when another controller follows',
        'return upToDate(status)?.reason === reason || isOver();',
        'return isOver() && reason !== undefined && status !== null;',
      ],
    ],
  ),
  ...rowsOf(
    'views.ts',
    ['views'],
    [
      [
        'readiness',
        'takes a node of which nobody has heard for Ready',
        "condition?.status === 'True'",
        "condition?.status !== 'False'",
      ],
      ['label', 'manages a node whose label has another value', '=== MANAGED_LABEL_VALUE', '!== undefined'],
    ],
  ),
];
