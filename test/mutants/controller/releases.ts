import { rowsOf } from './rows.ts';

/** Rules F: what a release is to blame for, and how it proves itself. */
export const releaseMutants = [
  ...rowsOf(
    'plan/releases.ts',
    ['plan/failure-budget', 'plan/blame', 'plan/properties'],
    [
      [
        'F1',
        'blames a version that the node runs after all',
        'recorded.filter((version) => version !== status?.current_version)',
        'recorded',
      ],
      [
        'F1',
        'does not blame a version for a node that does not return',
        '[...(notReturned ? [spec.version] : []), ',
        '[',
      ],
      [
        'F1',
        'does not blame a version for a node that fails its soak',
        ", ...(soak === 'failed' ? [status?.current_version] : [])]",
        ']',
      ],
      [
        'F1',
        'blames nothing where the CRD drops the record',
        '(isFailureUnrecorded(status) ? [spec.version] : [])',
        '[]',
      ],
      [
        'F1',
        'blames the release for what the cluster failed in',
        'if (!status || status.crash_count === 0) return false;',
        'if (status) return status.crash_count > 0;',
      ],
      [
        'F1',
        'goes by what a newer agent recorded of an earlier failure',
        '(instantOf(recorded.time) ?? failedAt) < failedAt',
        'recorded === null',
      ],
      [
        'F1',
        'blames the next version for what is on record of another',
        'if (!recorded) return versions == null;',
        'if (!recorded) return true;',
      ],
      [
        'F1',
        'forgets what failed before the present version',
        'for (const version of failedOn(shadow, health))',
        'for (const version of failedOn(shadow, health).slice(-1))',
      ],
      [
        'F1',
        'blames a release for the failures of another variant',
        'const known = this.#families.get(name);',
        'const [known] = this.#families.values();',
      ],
      [
        'F2',
        'counts those that failed as in flight',
        'if (!tally.failed.has(uid)) tally.inFlight += 1;',
        'tally.inFlight += 1;',
      ],
      [
        'F2',
        'takes a node for proof that is not yet at rest',
        'isIdle(shadow) && node.ready && silentSince === undefined',
        'node.ready && silentSince === undefined',
      ],
      [
        'F2',
        'takes a node for proof that is not Ready',
        'isIdle(shadow) && node.ready && silentSince === undefined',
        'isIdle(shadow) && silentSince === undefined',
      ],
      [
        'F2',
        'takes a node for proof whose agent does not run',
        'isIdle(shadow) && node.ready && silentSince === undefined',
        'isIdle(shadow) && node.ready',
      ],
      [
        'F2',
        'counts every other start not at all',
        'if (!tally.failed.has(uid)) tally.inFlight += 1;',
        'if (!tally.failed.has(uid)) tally.inFlight += Number(tally.inFlight % 2 === 0);',
      ],
      [
        'F2',
        'does not count a start that may have been written',
        "return slot && (shadow.stale || slot.writes === 'unknown') ? shadow.status.target_version : undefined;",
        'return undefined;',
      ],
      [
        'F2',
        'does not count a start that the cache does not show',
        "slot && (shadow.stale || slot.writes === 'unknown')",
        "slot && slot.writes === 'unknown'",
      ],
      [
        'F2',
        'does not count a start in doubt',
        "slot && (shadow.stale || slot.writes === 'unknown')",
        'slot && shadow.stale',
      ],
      [
        'F2',
        'does not count updates that run',
        'if (isActive(shadow)) return shadow.spec.version ?? undefined;',
        'if (isActive(shadow)) return undefined;',
      ],
    ],
  ),
  ...rowsOf(
    'plan/gates.ts',
    ['plan/failure-budget', 'plan/properties'],
    [
      ['F1', 'halts nothing', 'if (left <= 0)', 'if (left === undefined)'],
      [
        'F2',
        'lets everybody follow a release that nobody has proven',
        'if (!proven && inFlight >= left)',
        'if (inFlight === undefined)',
      ],
      ['F2', 'holds a proven release to its budget', 'if (!proven && inFlight >= left)', 'if (inFlight >= left)'],
      [
        'F2',
        'lets nobody retry who failed on a halted release',
        'if (releases.of(node.family, version).failed.has(node.uid)) return undefined;',
        '',
      ],
      [
        'F2',
        'lets nobody retry who failed, until others have proven the release',
        'if (failed.has(node.uid)) return undefined;',
        '',
      ],
    ],
  ),
  ...rowsOf(
    'plan/starts.ts',
    ['plan/failure-budget', 'plan/starts', 'plan/properties'],
    [
      ['F2', 'does not count the starts of the plan itself', 'keeper.releases.begin(node, version);', ''],
      [
        'F3',
        'lets a rewrite of the version pass every gate',
        'const finding = gate(subject, version, keeper);',
        "const finding = shadow.spec.state === 'Idle' ? gate(subject, version, keeper) : undefined;",
      ],
    ],
  ),
  ...rowsOf(
    'plan/machine.ts',
    ['plan/machine'],
    [
      [
        'F3',
        'leaves a newer offer to the agent',
        'return retarget ? status.target_version : undefined;',
        'return undefined;',
      ],
      [
        'F3',
        'rewrites the version of an update that has begun',
        "if (status?.current_state !== 'Idle' || status.target_version === status.current_version) return undefined;",
        'if (!status || status.target_version === status.current_version) return undefined;',
      ],
      [
        'F3',
        'takes a withdrawn offer for a start',
        "if (status?.current_state !== 'Idle' || status.target_version === status.current_version) return undefined;",
        "if (status?.current_state !== 'Idle') return undefined;",
      ],
    ],
  ),
  ...rowsOf(
    'plan/amount.ts',
    ['plan/amount'],
    [
      ['budget', 'rounds a share of failures down', 'Math.max(2, Math.ceil(share))', 'Math.max(2, Math.floor(share))'],
      ['budget', 'lets a share of failures fall below 2', 'Math.max(2, Math.ceil(share))', 'Math.ceil(share)'],
      ['concurrency', 'rounds a share up', 'Math.max(1, Math.floor(share))', 'Math.max(1, Math.ceil(share))'],
      ['concurrency', 'lets a share fall to nothing', 'Math.max(1, Math.floor(share))', 'Math.floor(share)'],
      ['concurrency', 'divides a share too early', '(amount.percent * nodes) / 100', '(amount.percent / 100) * nodes'],
    ],
  ),
];
