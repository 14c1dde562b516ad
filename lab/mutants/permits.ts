import { type Mutant, mutantsOf } from './mutant.ts';

const GATES = 'runtime/controller/plan/gates/gates.ts';
/** What tries the list of permits on the Lease. */
const OF_THE_LIST = [
  'test/controller/permits/ledger.test.ts',
  'test/controller/fencing.test.ts',
  'test/controller/leaders.test.ts',
];

/** What tries the end of a permit, and what may come too late. */
const OF_FENCING = [
  'test/controller/fencing.test.ts',
  'test/controller/leaders.test.ts',
  'test/controller/stale-caches.test.ts',
];

/** Rules L: who may be updating, and what one leader at a time does. */
export const permitMutants: readonly Mutant[] = [
  ...mutantsOf(
    'runtime/controller/writing/executor.ts',
    ['test/controller/fencing.test.ts', 'test/controller/leaders.test.ts'],
    {
      'L1: takes no permit before a start': [
        'const swapped = await this.#swap(starts, run, () => this.#options.ports.permitLedger.take(starts, run.signal));',
        "const swapped: Result = 'done';",
      ],
      'L1: writes the spec though the permit was refused': ["if (swapped !== 'done') return [...left, swapped];", ''],
      'L1: writes the spec before it takes the permit': [
        'const swapped = await this.#swap(starts, run, () => this.#options.ports.permitLedger.take(starts, run.signal));',
        'await this.#each(starts, run, (start) => this.#write(start, run.signal));\n    const swapped = await this.#swap(starts, run, () => this.#options.ports.permitLedger.take(starts, run.signal));',
      ],
      'L1: reads the shadow again after the swap': [
        'await this.#each(starts, run, (start) => this.#write(start, run.signal))',
        'await this.#each(starts, run, async (start) => { const read = await this.#options.ports.shadows.get(start.shadow, run.signal); return this.#write({ ...start, resourceVersion: read!.metadata.resourceVersion }, run.signal); })',
      ],
      'L2: sends a refused spec again on what it reads then': [
        'if (!isDefinite(error)) this.#options.ports.permitLedger.doubt(command.shadow);',
        "if (!isDefinite(error)) this.#options.ports.permitLedger.doubt(command.shadow); if (isMoved(error)) { const read = await this.#options.ports.shadows.get(command.shadow, signal); await writeSpec(this.#options.ports, { ...command, resourceVersion: read!.metadata.resourceVersion }, signal); return 'done'; }",
      ],
      'L4: takes a write of unknown outcome as failed': [
        'if (!isDefinite(error)) this.#options.ports.permitLedger.doubt(command.shadow);',
        '',
      ],
    },
  ),
  ...mutantsOf('runtime/controller/writing/executor.ts', ['test/controller/refused-writes.test.ts'], {
    'L9: asks again at once for what was not taken': [
      'for (const command of commands) limiters.of(command.kind).refused(targetOf(command), error);',
      '',
    ],
  }),
  ...mutantsOf('runtime/controller/permits/entries.ts', ['test/controller/permits/entries.test.ts'], {
    'L1: leaves the Lease as it is where the permit is already listed': [
      'starts: (before?.starts ?? 0) + 1',
      'starts: 1',
    ],
  }),
  ...mutantsOf('runtime/controller/permits/ledger.ts', OF_THE_LIST, {
    'L1: swaps permits that the plan was not made on': [
      'if (text === formatEntries(this.#entries)) return found;',
      'if (text !== undefined) return found;',
    ],
    'L1: writes over whatever the Lease has become': [
      '{ ...lease.metadata, annotations }',
      "{ ...lease.metadata, resourceVersion: '', annotations }",
    ],
    'L4: takes permits that it finds for settled': ["?? 'unknown'", "?? 'settled'"],
  }),
  ...mutantsOf('runtime/controller/writing/actions/fencing.ts', OF_FENCING, {
    'L4: bumps with a value that changes nothing': ['another(annotations?.[BUMPED_ANNOTATION])', "'1'"],
    'L3 (c): gives back the permit of a shadow that is gone while the agent runs': [
      "!(await agentRuns(ports, nodeNameOf(permit.shadow) ?? '', signal))",
      'true',
    ],
    'L3: gives back the permit of a node that bears marks': [' || readMarks(node)', ''],
    'L3: gives a permit back without touching the Node': [
      'await markReleased(ports, node, signal);\n  return true;',
      'return true;',
    ],
    'L3: touches the Node with a value that changes nothing': ['another(annotations?.[RELEASED_ANNOTATION])', "'1'"],
  }),
  ...mutantsOf('runtime/controller/manager.ts', ['test/controller/identity.test.ts'], {
    'L5: keeps its identity over a restart': ['_${randomId(random)}', ''],
  }),
  ...mutantsOf('runtime/kube/leader-election.ts', ['test/kube/leader-election.test.ts'], {
    'L5: drops at a takeover what else stands on the Lease': [
      '? await leases.update({ ...lease, metadata: this.#annotated(lease), spec }, signal)',
      '? await leases.update({ metadata: { ...lease.metadata, annotations: {} }, spec }, signal)',
    ],
  }),
  ...mutantsOf(
    'runtime/controller/plan/nodes/recovery.ts',
    ['test/controller/plan/recovery.test.ts', 'test/controller/leaders.test.ts'],
    {
      'L3 (a): takes a node for idle on a view from before its own write': ['if (shadow.stale) return undefined;', ''],
    },
  ),
  ...mutantsOf(
    'runtime/controller/plan/nodes/health.ts',
    ['test/controller/plan/starts.test.ts', 'test/controller/plan/busy.test.ts'],
    {
      'L6: starts beside a node that somebody else has out': [
        'Math.max(downSince(info), node.outAt ?? -Infinity)',
        'downSince(info)',
      ],
    },
  ),
  ...mutantsOf('runtime/controller/plan/nodes/health.ts', ['test/controller/plan/busy.test.ts'], {
    'L6: waits for nodes that never were Ready': ['ready || !wasReady(info) ?', 'ready ?'],
  }),
  ...mutantsOf(
    'runtime/controller/plan/groups/busy.ts',
    [
      'test/controller/plan/starts.test.ts',
      'test/controller/plan/progress-deadline.test.ts',
      'test/controller/traces.test.ts',
    ],
    {
      'L6: does not count marks': ['info.node.marks !== undefined || (', '('],
    },
  ),
  ...mutantsOf(GATES, ['test/controller/plan/second-gate.test.ts'], {
    'L8: disturbs what has staged its update though no place is left by then': [
      "again: 'wait', ...forPods(fleetFull)",
      'again: undefined, ...forPods(fleetFull)',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/again.ts', ['test/controller/plan/second-gate.test.ts'], {
    'L8: asks nothing of the policy that rules a node by the time it is disturbed': [
      'before.name !== policy?.name || before.uid !== policy.uid',
      'before.name !== policy?.name && before.name === policy?.uid',
    ],
  }),
  ...mutantsOf(
    GATES,
    [
      'test/controller/plan/second-gate.test.ts',
      'test/controller/plan/properties.test.ts',
      'test/controller/traces.test.ts',
    ],
    {
      'L8: drains a staged node that is held': ["again: 'call-off', ask: held", 'again: undefined, ask: held'],
    },
  ),
  ...mutantsOf('runtime/controller/writing/actions/specs.ts', ['test/controller/refused-drain.test.ts'], {
    'L8: calls off a node whose drain has begun': [' : mayCallOff(phase)', ' : live.status !== undefined'],
  }),
  ...mutantsOf('runtime/controller/seeing/expectations.ts', ['test/controller/expectations.test.ts'], {
    'L6: takes an older acknowledgement for the newest': [
      'isAsNewAs(known, resourceVersion) ? known : resourceVersion',
      'isAsNewAs(known, resourceVersion) ? resourceVersion : resourceVersion',
    ],
  }),
];
