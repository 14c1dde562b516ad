import type { Mutant } from './mutant.ts';

/** What tries releases and rescues by the controller. */
const OF_RELEASES = [
  'test/controller/stale-caches.test.ts',
  'test/controller/rollout.test.ts',
  'test/controller/traces.test.ts',
];

/** Rules M: what is ours on a Node. */
export const markMutants: readonly Mutant[] = [
  {
    rule: 'M1',
    does: 'writes the status to a shadow that it has not looked at',
    file: 'runtime/apiserver/drain/cordon.ts',
    find: '{ metadata: { resourceVersion }, status: { drain: stamped(progress, clock.now()), ...more } }',
    replace: '{ status: { drain: stamped(progress, clock.now()), ...more } }',
    tests: ['test/apiserver/drain/traces.test.ts'],
  },
  {
    rule: 'M1',
    does: 'cordons a Node that it has not looked at',
    file: 'runtime/apiserver/drain/cordon.ts',
    find: 'await ports.nodes.patch(drain.node.metadata.name, { ...cordon })',
    replace:
      'await ports.nodes.patch(drain.node.metadata.name, { ...cordon, metadata: { ...cordon.metadata, resourceVersion: undefined as never } })',
    tests: ['test/apiserver/drain/traces.test.ts'],
  },
  {
    rule: 'M1',
    does: 'cordons before the status is written',
    file: 'runtime/apiserver/drain/cordon.ts',
    find: '    const shadowVersion = await',
    replace:
      '    if (cordon) await ports.nodes.patch(drain.node.metadata.name, { ...cordon });\n    const shadowVersion = await',
    tests: ['test/apiserver/drain/traces.test.ts'],
  },
  {
    rule: 'M1',
    does: 'takes the marks of an earlier boot for its own',
    file: 'runtime/marks/patches.ts',
    find: "marks.id !== '' && !otherBoot",
    replace: "marks.id !== '' && (otherBoot || !otherBoot)",
    tests: ['test/marks/marks.test.ts'],
  },
  {
    rule: 'M1',
    does: 'disowns at a drain of another boot what it has put on the Node',
    file: 'runtime/marks/patches.ts',
    find: 'owns: union(before?.owns, taken),',
    replace: 'owns: taken,',
    tests: ['test/marks/marks.test.ts'],
  },
  {
    rule: 'M1',
    does: 'leaves the probe of an agent that an older one has followed',
    file: 'runtime/apiserver/drain/cordon.ts',
    find: 'agent.bootId === null && reboot != null',
    replace: 'agent.bootId === undefined && reboot != null',
    tests: ['test/apiserver/older-agent.test.ts'],
  },
  {
    rule: 'M1',
    does: 'lets the marks name the boot in which another agent has drained',
    file: 'runtime/marks/patches.ts',
    find: 'boot: boot === null ? null : marks.boot',
    replace: 'boot: marks.boot',
    tests: ['test/marks/marks.test.ts'],
  },
  {
    rule: 'M5',
    does: 'reads the shadow before the Node',
    file: 'runtime/apiserver/snapshot.ts',
    find: '  const node = await expectNode(ports, agent);',
    replace:
      '  await ownShadow(ports, agent).then((early) => (ports = { ...ports, shadows: { ...ports.shadows, get: async () => early } }));\n  const node = await expectNode(ports, agent);',
    tests: ['test/apiserver/uncordon-traces.test.ts'],
  },
  {
    rule: 'M5',
    does: 'releases before the Node runs the version',
    file: 'runtime/apiserver/rules.ts',
    find: 'if (running === undefined || running === shadow.spec.version) return undefined;',
    replace: 'if (shadow) return undefined;',
    tests: ['test/apiserver/uncordon-traces.test.ts'],
  },
  {
    rule: 'M5',
    does: 'releases a Node that it has not looked at',
    file: 'runtime/apiserver/node-service.ts',
    find: 'await ports.nodes.patch(agent.nodeName, { ...patch });',
    replace:
      'await ports.nodes.patch(agent.nodeName, { ...patch, metadata: { ...patch.metadata, resourceVersion: undefined as never } });',
    tests: ['test/apiserver/uncordon-traces.test.ts'],
  },
  {
    rule: 'M6',
    does: 'takes the marks off before it lifts the cordon',
    file: 'runtime/apiserver/node-service.ts',
    find: 'await ports.nodes.patch(agent.nodeName, { ...patch });',
    replace:
      'const { spec, ...marks } = patch;\n    await ports.nodes.patch(agent.nodeName, { ...marks });\n    if (spec) await ports.nodes.patch(agent.nodeName, { spec });',
    tests: ['test/apiserver/killed.test.ts'],
  },
  {
    rule: 'M6',
    does: 'lifts a cordon that it does not own',
    file: 'runtime/marks/patches.ts',
    find: "...(marks.owns.includes('cordon') && !held && {",
    replace: '...(!held && {',
    tests: ['test/apiserver/uncordon-traces.test.ts'],
  },
  {
    rule: 'M7',
    does: 'lifts a cordon without marks where our own drain was',
    file: 'runtime/apiserver/rules.ts',
    find: 'running === shadow.spec.version &&\n    shadow.status?.drain == null',
    replace: 'running === shadow.spec.version',
    tests: ['test/apiserver/uncordon-traces.test.ts'],
  },
  {
    rule: 'M9',
    does: 'proves a Node without a look at the pods that came while volumes were in use',
    file: 'runtime/apiserver/drain/engine.ts',
    find: '    if (!inUse) return false;\n',
    replace: '    if (!inUse) return true;\n',
    tests: ['test/apiserver/drain/volumes.test.ts'],
  },
  {
    rule: 'M8 (a)',
    does: 'releases marks at rest by the cache alone',
    file: 'runtime/controller/actions/release.ts',
    find: 'isAtRest(shadow)',
    replace: 'true',
    tests: OF_RELEASES,
  },
  {
    rule: 'M8 (c)',
    does: 'rescues by what the cache says of the agent',
    file: 'runtime/controller/actions/release.ts',
    find: ' || (await agentRuns(ports, nodeName, signal))',
    replace: '',
    tests: OF_RELEASES,
  },
  {
    rule: 'M8 (c)',
    does: 'releases a rescued Node without ending its update first',
    file: 'runtime/controller/actions/release.ts',
    find: 'await endUpdate(ports, { shadow, phase: phaseOf(shadow, seen) }, signal)',
    replace: 'true',
    tests: OF_RELEASES,
  },
  {
    rule: 'M8 (b)',
    does: 'forgets, with the shadow of a node that is no longer managed, that its host is about to go down',
    file: 'runtime/controller/plan/recovery.ts',
    find: 'return health.goesDown ? undefined : deletion(shadow);',
    replace: 'return deletion(shadow);',
    tests: ['test/controller/plan/recovery.test.ts'],
  },
  {
    rule: 'M8',
    does: 'gives a node back whose host the agent has just asked to reboot',
    file: 'runtime/agent/loop.ts',
    find: 'await context.hostWork.untilDown(signal);',
    replace: '',
    tests: ['test/agent/boots.test.ts'],
  },
];
