import { rowsOf } from './rows.ts';

/** Windows, backoff, soak, readiness, order, and when to look again. */
export const timeMutants = [
  ...rowsOf(
    'plan/gates.ts',
    ['plan/starts', 'plan/wake', 'plan/alarms'],
    [
      ['hold', 'starts a node that a person holds', 'if (node.held) return HELD;', ''],
      ['pause', 'starts nodes while the fleet is paused', 'if (keeper.snapshot.paused) return PAUSED;', ''],
      ['readiness', 'starts a node that is not Ready', 'if (!node.ready) return NOT_READY;', ''],
      ['backoff', 'retries at once', 'backingOff(shadow, keeper) ??', ''],
      ['window', 'starts nodes outside it', 'outsideWindow(shadow, keeper) ??', ''],
      [
        'window',
        'starts a node by a trigger from before its offer',
        ' && offeredAt <= triggeredAt) return undefined;',
        ') return undefined;',
      ],
      [
        'window',
        'forgets a trigger once it has passed',
        'if (!open && triggeredAt !== undefined && offeredAt !== undefined && offeredAt <= triggeredAt) return undefined;',
        '',
      ],
      ['window', 'starts an update that does not fit', ' ??\n    tooLate(family, shadow, keeper)', ''],
      [
        'window',
        'fits updates in though nobody asked for that',
        'if (!policy.mustFit || !open || changesAt === undefined)',
        'if (!open || changesAt === undefined)',
      ],
      [
        'window',
        'takes a node that was never updated for the fastest',
        'lastUpdateMs ?? releases.longestUpdateMs(family)',
        'lastUpdateMs ?? 0',
      ],
      ['wakeAt', 'does not wake when the window changes', 'if (changesAt !== undefined) alarm.reached(changesAt);', ''],
    ],
  ),
  ...rowsOf(
    'plan/backoff.ts',
    ['plan/reference', 'plan/starts'],
    [
      ['backoff', 'allows a retry at the very minute', '* MINUTE + 1', '* MINUTE'],
      ['backoff', 'does not grow', 'Math.min(2 ** status.crash_count, LONGEST_MINUTES)', '2'],
      ['backoff', 'grows without end', 'Math.min(2 ** status.crash_count, LONGEST_MINUTES)', '2 ** status.crash_count'],
    ],
  ),
  ...rowsOf(
    'plan/stalled.ts',
    ['plan/stalled'],
    [
      ['progress', 'waits for a dead node as for a living one', 'policy.returnTimeoutMs)', 'limitOf(shadow, policy))'],
      ['progress', 'counts a soak as no progress', 'if (health.soak !== undefined) return undefined;', ''],
      ['progress', 'knows of no drain without a deadline', 'drainTimeoutMs === 0 ? Infinity : ', ''],
      ['progress', 'blames a node for a controller that is late', 'if (isStepOver(shadow)) return Infinity;', ''],
    ],
  ),
  ...rowsOf(
    'plan/order.ts',
    ['plan/starts'],
    [
      [
        'order',
        'does not leave the own node to the end',
        'Number(a.node.name === ownNode) - Number(b.node.name === ownNode) ||',
        '',
      ],
      [
        'order',
        'does not begin with those that failed least',
        '(a.shadow?.status?.crash_count ?? 0) - (b.shadow?.status?.crash_count ?? 0) ||',
        '',
      ],
    ],
  ),
  ...rowsOf(
    'plan/subject.ts',
    ['plan/properties'],
    [['order', 'goes by how the cache was filled', '.toSorted((a, b) => compare(a.node.name, b.node.name))', '']],
  ),
  ...rowsOf(
    'plan/health.ts',
    ['plan/machine', 'plan/starts', 'plan/verdicts', 'plan/wake', 'plan/alarms'],
    [
      ['soak', 'passes at once', 'since + policy.soakMs', 'since'],
      [
        'soak',
        'counts only from when the node was Ready',
        'Math.max(stateSeenAt, node.readinessSeenAt)',
        'node.readinessSeenAt',
      ],
      [
        'soak',
        'goes on counting though the node was not Ready',
        'Math.max(stateSeenAt, node.readinessSeenAt)',
        'stateSeenAt',
      ],
      ['soak', 'never fails', "? 'failed' : 'waiting'", "? 'waiting' : 'waiting'"],
      ['return', 'waits for a reboot for ever', 'alarm.reached(since + policy.returnTimeoutMs)', 'since < 0'],
      ['readiness', 'waits for a dead machine for ever', 'return now < until ? until : undefined;', 'return until;'],
      [
        'wakeAt',
        'wakes for nodes that are not managed',
        'if (isWell || !node.managed) return WELL;',
        'if (isWell) return WELL;',
      ],
      [
        'wakeAt',
        'wakes for a soak that nothing follows',
        '!stale && alarm.reached(since + policy.soakMs)',
        'alarm.reached(since + policy.soakMs)',
      ],
    ],
  ),
  ...rowsOf(
    'plan/starts.ts',
    ['plan/wake'],
    [
      [
        'wakeAt',
        'does not wake when an outage gives its place back',
        'if (places.nextAt !== undefined) keeper.alarm.reached(places.nextAt);',
        '',
      ],
    ],
  ),
  ...rowsOf(
    'plan/places.ts',
    ['plan/wake', 'plan/alarms'],
    [
      [
        'wakeAt',
        'wakes for the first outage though more places are missing',
        'this.#returns[this.#short - 1]',
        'this.#short < Infinity ? this.#returns[0] : undefined',
      ],
    ],
  ),
  ...rowsOf(
    'plan/alarm.ts',
    ['plan/wake', 'plan/alarms'],
    [
      [
        'wakeAt',
        'wakes for a time that has come',
        'if (instant <= this.now) return true;',
        'if (instant < this.now) return true;',
      ],
      [
        'wakeAt',
        'remembers the last instant that was asked for',
        'if (instant < this.#next) this.#next = instant;',
        'this.#next = instant;',
      ],
    ],
  ),
  ...rowsOf(
    'wakeup.ts',
    ['wakeup', 'clock-jumps'],
    [
      [
        'clock',
        'waits for an instant as long as it seems',
        'Math.min(Math.max(0, at - clock.now()), LONGEST_WAIT_MS)',
        'Math.max(0, at - clock.now())',
      ],
      [
        'loop',
        'sleeps through what happened while it was busy',
        'if (this.#rung || signal.aborted) end();',
        'if (signal.aborted) end();',
      ],
      ['loop', 'looks again for ever at what it has seen', 'this.#rung = false;\n    return rang;', 'return rang;'],
    ],
  ),
  ...rowsOf(
    'schedule/daily.ts',
    ['schedule/daily', 'plan/reference'],
    [
      [
        'window',
        'includes the second at which a daily window stops',
        'const open = sinceStart < length;',
        'const open = sinceStart <= length;',
      ],
      ['window', 'does not reach over midnight', '(stop - start + DAY) % DAY', 'Math.max(0, stop - start)'],
    ],
  ),
  ...rowsOf(
    'schedule/cron.ts',
    ['schedule/cron', 'schedule/documented'],
    [
      [
        'cron',
        'takes every expression for a trigger',
        'isConsecutive(pattern.second) ? windowOf(cron, step) : triggerOf(cron)',
        'triggerOf(cron)',
      ],
      [
        'cron',
        'takes every expression for a window',
        'isConsecutive(pattern.second) ? windowOf(cron, step) : triggerOf(cron)',
        'windowOf(cron, step)',
      ],
      [
        'cron',
        'counts the days of the week from another day',
        'const DIALECT = { alternativeWeekdays: true,',
        'const DIALECT = { alternativeWeekdays: false,',
      ],
      ['cron', 'is content with one of the two days', 'domAndDow: true,', 'domAndDow: false,'],
      [
        'cron',
        'goes by UTC whatever the zone',
        '{ ...DIALECT, timezone, paused: true }',
        "{ ...DIALECT, timezone: 'UTC', paused: true }",
      ],
      [
        'cron',
        'looks for a window’s end in whole hours of UTC',
        "timezone === 'UTC' ? stepOf(pattern) : Math.min(stepOf(pattern), QUARTER_HOUR)",
        'stepOf(pattern)',
      ],
      [
        'cron',
        'hears a trigger only after its second',
        'Math.floor(now / SECOND) * SECOND + SECOND',
        'Math.floor(now / SECOND) * SECOND',
      ],
    ],
  ),
  ...rowsOf(
    'schedule/dialect.ts',
    ['schedule/cron', 'schedule/documented'],
    [
      [
        'cron',
        'takes a step from a number for one value',
        '.map((item) => item.replace(/^(\\d+)\\/(\\d+)$/, `$1-${field.max}/$2`))',
        '',
      ],
      ['cron', 'counts names from 0', 'index < 0 ? undefined : index + 1', 'index < 0 ? undefined : index'],
      [
        'cron',
        'knows no abbreviation of four or five letters',
        'const full = ALSO[word] ?? word;',
        'const full = word;',
      ],
      ['cron', 'accepts what another dialect adds', 'if (!ALPHABET.test(text)) return undefined;', ''],
    ],
  ),
  ...rowsOf(
    'schedule/schedule.ts',
    ['schedule/cron'],
    [['window', 'remembers an answer for ever', '|| now >= endOf(known)', '']],
  ),
  ...rowsOf(
    'controller.ts',
    ['leaders', 'rollout'],
    [
      [
        'loop',
        'waits for news after a slot was given back',
        'return changed ? this.#options.clock.now() : wakeAt;',
        'return wakeAt;',
      ],
    ],
  ),
  ...rowsOf(
    'controller.ts',
    ['fencing'],
    [['loop', 'waits for news after a plan that met another world', 'if (moved > 0) return undefined;', '']],
  ),
];
