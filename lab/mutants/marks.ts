import { type Mutant, mutantsOf } from './mutant.ts';

/** What tries releases and rescues by the controller. */
const OF_RELEASES = [
  'test/controller/stale-caches.test.ts',
  'test/controller/rollout.test.ts',
  'test/controller/traces.test.ts',
];

/** Rules M: what is ours on a Node. */
export const markMutants: readonly Mutant[] = [
  ...mutantsOf('runtime/apiserver/drain/cordon.ts', ['test/apiserver/drain/traces.test.ts'], {
    'M1: writes the status to a shadow that it has not looked at': [
      '{ metadata: { resourceVersion }, status: { drain: progress, ...more } }',
      '{ status: { drain: progress, ...more } }',
    ],
    'M1: cordons a Node that it has not looked at': [
      'await ports.nodes.patch(drain.node.metadata.name, { ...cordon })',
      'await ports.nodes.patch(drain.node.metadata.name, { ...cordon, metadata: { ...cordon.metadata, resourceVersion: undefined as never } })',
    ],
    'M1: cordons before the status is written': [
      '    const told = await',
      '    await ports.nodes.patch(drain.node.metadata.name, { ...cordon });\n    const told = await',
    ],
    'M2: goes on with the drain of another attempt': [
      '  if (own !== undefined && own !== id) throw superseded();\n',
      '',
    ],
  }),
  ...mutantsOf('runtime/api/marks/patches.ts', ['test/api/marks/marks.test.ts'], {
    'M1: takes the marks of an earlier boot for its own': [
      "marks.id !== '' && !otherBoot",
      "marks.id !== '' && (otherBoot || !otherBoot)",
    ],
    'M1: disowns at a drain of another boot what it has put on the Node': [
      'owns: union(before?.owns, taken),',
      'owns: taken,',
    ],
    'M1: lets the marks name the boot in which another agent has drained': [
      'boot: boot === null ? null : marks.boot',
      'boot: marks.boot',
    ],
    'M6: lifts the cordon of a node that is held': [
      "...(marks.owns.includes('cordon') && !held && {",
      "...(marks.owns.includes('cordon') && {",
    ],
  }),
  ...mutantsOf('runtime/apiserver/drain/cordon.ts', ['test/apiserver/older-agent.test.ts'], {
    'M1: leaves the probe of an agent that an older one has followed': [
      'agent.bootId === null && reboot != null',
      'agent.bootId === undefined && reboot != null',
    ],
  }),
  ...mutantsOf('runtime/apiserver/snapshot.ts', ['test/apiserver/uncordon-traces.test.ts'], {
    'M5: reads the shadow before the Node': [
      '  const node = seen ?? (await expectNode(ports, agent));',
      '  await expectOwnShadow(ports, agent).then((early) => (ports = { ...ports, shadows: { ...ports.shadows, get: async () => early } }));\n  const node = seen ?? (await expectNode(ports, agent));',
    ],
  }),
  ...mutantsOf('runtime/apiserver/rules.ts', ['test/apiserver/uncordon-traces.test.ts'], {
    'M5: releases before the Node runs the version': [
      'if (running === undefined || running === shadow.spec.version) return undefined;',
      'if (shadow) return undefined;',
    ],
    'M7: lifts a cordon without marks where our own drain was': [
      'running === shadow.spec.version &&\n    shadow.status?.drain == null',
      'running === shadow.spec.version',
    ],
  }),
  ...mutantsOf('runtime/apiserver/node-service.ts', ['test/apiserver/uncordon-traces.test.ts'], {
    'M5: releases a Node that it has not looked at': [
      'await ports.nodes.patch(agent.nodeName, { ...patch });',
      'await ports.nodes.patch(agent.nodeName, { ...patch, metadata: { ...patch.metadata, resourceVersion: undefined as never } });',
    ],
  }),
  ...mutantsOf('runtime/apiserver/node-service.ts', ['test/apiserver/killed.test.ts'], {
    'M6: takes the marks off before it lifts the cordon': [
      'await ports.nodes.patch(agent.nodeName, { ...patch });',
      'const { spec, ...marks } = patch;\n    await ports.nodes.patch(agent.nodeName, { ...marks });\n    if (spec) await ports.nodes.patch(agent.nodeName, { spec });',
    ],
  }),
  ...mutantsOf('runtime/api/marks/patches.ts', ['test/apiserver/uncordon-traces.test.ts'], {
    'M6: lifts a cordon that it does not own': ["...(marks.owns.includes('cordon') && !held && {", '...(!held && {'],
  }),
  ...mutantsOf('runtime/apiserver/drain/cordon.ts', ['test/apiserver/refused-writes.test.ts'], {
    'M1: fails a drain whose report alone is refused': [
      'if (probe.reboot !== undefined || !tellRefusedReport(ports, drain.node, error)) throw error;',
      'throw error;',
    ],
  }),
  ...mutantsOf('runtime/drain/preflight.ts', ['test/apiserver/drain/after-failed.test.ts'], {
    'M1: drains again while what ended the last drain still stands': ["  if (repeats) return 'refuse';\n", ''],
  }),
  ...mutantsOf('runtime/apiserver/drain/engine.ts', ['test/apiserver/drain/volumes.test.ts'], {
    'M9: proves a Node without a look at the pods that came while volumes were in use': [
      '    if (!inUse) return false;\n',
      '    if (!inUse) return true;\n',
    ],
  }),
  ...mutantsOf('runtime/controller/writing/actions/release.ts', OF_RELEASES, {
    'M8 (a): releases marks at rest by the cache alone': ['isAtRest(shadow)', 'true'],
    'M8 (c): rescues by what the cache says of the agent': [' || (await agentRuns(ports, nodeName, signal))', ''],
    'M8 (c): releases a rescued Node without ending its update first': [
      'await endUpdate(ports, { shadow, phase: phaseOf(shadow, seen) }, signal)',
      'true',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/recovery.ts', ['test/controller/plan/recovery.test.ts'], {
    'M8 (b): forgets, with the shadow of a node that is no longer managed, that its host is about to go down': [
      'return health.goesDown ? undefined : deletion(shadow);',
      'return deletion(shadow);',
    ],
    'M6: keeps in its marks a cordon that somebody has lifted': [
      "return isDisowned(node) ? { kind: 'disown', node: node.name } : undefined;",
      'return isDisowned(node) ? undefined : undefined;',
    ],
    'M8 (a): leaves the marks of a node at rest': [
      "  if (node.marks && phase.kind === 'resting') return releaseOf(node, shadow.name);\n",
      '',
    ],
    'M8: keeps the shadow of a node that is managed no more': [
      'return health.goesDown ? undefined : deletion(shadow);',
      'return health.goesDown ? undefined : undefined;',
    ],
  }),
  ...mutantsOf('runtime/agent/loop.ts', ['test/agent/boots.test.ts'], {
    'M8: gives a node back whose host the agent has just asked to reboot': [
      'await context.hostWork.untilDown(signal);',
      '',
    ],
  }),
  ...mutantsOf('runtime/apiserver/rules.ts', ['test/apiserver/rules.test.ts'], {
    'M1: drains a node that nobody wants drained': [
      "  if (spec.state !== 'RebootedIntoUpdate') return `the node is wanted in ${spec.state}, not in RebootedIntoUpdate`;\n",
      '',
    ],
    'M1: drains a node that has rebooted as recorded': [
      "  if (hasRebooted(status.reboot, node)) return 'the reboot that was requested has happened';\n",
      '',
    ],
  }),
  ...mutantsOf('runtime/api/marks/marks.ts', ['test/api/marks/marks.test.ts'], {
    'M6: reads no marks in which a newer version owns something else': [
      '  const unknown = said ? said.owns.filter((entry) => !isOwnable(entry)) : [UNREADABLE];\n',
      '  const unknown = said ? said.owns.filter((entry) => !isOwnable(entry)) : [UNREADABLE];\n  if (unknown.length > 0) return { ...NO_DRAIN, owns: [] };\n',
    ],
  }),
  ...mutantsOf('runtime/controller/writing/actions/release.ts', ['test/controller/stale-caches.test.ts'], {
    'M8 (b): releases marks without a shadow while the agent runs': [
      'isAtRest(shadow) : !(await agentRuns(ports, nodeName, signal))',
      'isAtRest(shadow) : true',
    ],
    'M8: deletes the shadow of a node that its cache shows without the label': [
      "  if (node && viewOfNode(node, undefined, manages).managed) return 'moved';\n",
      '',
    ],
  }),
  ...mutantsOf('runtime/controller/writing/actions/release.ts', ['test/controller/traces.test.ts'], {
    'M8 (c): ends the update of a node that is back from its reboot': [
      "  if (spec.state === 'Idle' || phase.isBackOnRecord) return false;\n",
      "  if (spec.state === 'Idle' && phase.isBackOnRecord) return false;\n",
    ],
  }),
  ...mutantsOf('runtime/drain/volumes.ts', ['test/apiserver/drain/volumes.test.ts'], {
    'M9: proves a Node whose volumes are in use': [
      "  if (inUse.length === 0) return { kind: 'go', inUse };\n",
      "  if (inUse.length >= 0) return { kind: 'go', inUse };\n",
    ],
  }),
  ...mutantsOf('runtime/agent/apiserver/retrying-client.ts', ['test/agent/retrying-client.test.ts'], {
    'M8: makes its shadow anew as often as that is deleted': ['      this.#createdAt = clock.monotonic();\n', ''],
  }),
  ...mutantsOf('runtime/controller/writing/executor.ts', ['test/controller/stale-caches.test.ts'], {
    'L9: looks with each plan at what a late cache shows': [
      "    if (limiter.restMs(target) > 0) return 'moved';\n",
      '',
    ],
  }),
];
