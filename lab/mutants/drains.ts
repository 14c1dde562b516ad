import { type Mutant, mutantsOf } from './mutant.ts';

/** Rules M2 to M4: what a drain evicts, and how it ends. */
export const drainMutants: readonly Mutant[] = [
  ...mutantsOf('runtime/apiserver/drain/run.ts', ['test/apiserver/drain/traces.test.ts'], {
    "M2: drains on where its marks are gone or another drain's": [' || readMarks(node)?.id !== this.id', ''],
    'M2: drains on where somebody has uncordoned the node': [
      "      if (node.spec?.unschedulable !== true) return 'uncordoned';\n",
      '',
    ],
  }),
  ...mutantsOf('runtime/apiserver/drain/cordon.ts', ['test/apiserver/drain/traces.test.ts'], {
    'M3: takes an empty watch for an empty Node': [
      'await listWhole(ports.transport, podsOn(agent.nodeName))',
      "await Promise.resolve({ items: [], version: '' })",
    ],
  }),
  ...mutantsOf('runtime/apiserver/drain/engine.ts', ['test/apiserver/drain/traces.test.ts'], {
    'M3: proves a Node that it has not looked at': [
      'await nodes.patch(node.metadata.name, { ...patch });',
      'await nodes.patch(node.metadata.name, { ...patch, metadata: { ...patch.metadata, resourceVersion: (await nodes.get(node.metadata.name))!.metadata.resourceVersion } });',
    ],
  }),
  ...mutantsOf(
    'runtime/api/marks/patches.ts',
    ['test/api/marks/marks.test.ts', 'test/apiserver/uncordon-traces.test.ts'],
    {
      'M3: proves with a patch that changes nothing': ['drained: now, proof }', 'drained: now }'],
    },
  ),
  ...mutantsOf('runtime/api/marks/patches.ts', ['test/api/marks/marks.test.ts'], {
    'M3: keeps the proof of a Node that it cordons again': [
      '          newestPod,\n',
      '          newestPod,\n          drained: before?.drained,\n',
    ],
  }),
  ...mutantsOf('runtime/apiserver/drain/engine.ts', ['test/apiserver/refusals.test.ts'], {
    'M4: uncordons at the deadline': [
      "      this.#ports.metrics.drains.inc({ result: 'timeout' });\n",
      '    const { name, resourceVersion } = node.metadata;\n    void this.#ports.nodes.patch(name, { metadata: { resourceVersion }, spec: { unschedulable: null } });\n',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/settle.ts', ['test/controller/plan/crossed.test.ts'], {
    'M12: forgets what a drain has evicted once it is called off': [
      "node.marks !== undefined || phase.kind === 'returning' || isLetThrough(phase)",
      'isLetThrough(phase)',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/crossed.ts', ['test/controller/plan/crossed.test.ts'], {
    'M12: calls off the next drain before the pods of the last one are back': [
      'Math.max(stalledAt, lastCalledOff(fleet, deadlock))',
      'stalledAt',
    ],
    'M12: takes the pods of a drain for evicted that are there still': ['isDrained || left.length < pods', 'true'],
    'M12: calls a drain off though another node gives its budget back': [
      'isWithin(those, before)',
      'both(those, before).length > 0',
    ],
    'M12: calls the older of two drains off that block each other': [
      'compare(sinceOf(b), sinceOf(a))',
      'compare(sinceOf(a), sinceOf(b))',
    ],
  }),
  ...mutantsOf('runtime/apiserver/drain/status.ts', ['test/apiserver/drain/cover.test.ts'], {
    'M12: does not say whom a drain has evicted': ['    this.#cover = coverNow(this.#cover, left);\n', ''],
  }),
  ...mutantsOf('runtime/apiserver/drain/judge.ts', ['test/apiserver/drain/cover.test.ts'], {
    'M12: forgets whom a drain has evicted that begins anew': [
      'judged ? withEvicted(judged.cover, known) : known',
      'judged?.cover ?? known',
    ],
  }),
  ...mutantsOf('runtime/controller/writing/actions/specs.ts', ['test/controller/crossed.test.ts'], {
    'M12: calls a drain off whose agent asks for its reboot meanwhile': [
      'crossed ? isStillCrossed(crossed, live, view) : mayCallOff(phase)',
      'crossed !== undefined || mayCallOff(phase)',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/pauses.ts', ['test/controller/crossed.test.ts'], {
    'M12: starts a node again while the drain goes on that its own has blocked': [
      'permits.find(({ id }) => id === crossed.attempt)',
      'undefined',
    ],
  }),
];
