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
    find: '{ metadata: { resourceVersion }, status: { drain: progress } }',
    replace: '{ status: { drain: progress } }',
    tests: ['test/apiserver/drain/traces.test.ts'],
  },
  {
    rule: 'M1',
    does: 'cordons a Node that it has not looked at',
    file: 'runtime/apiserver/drain/cordon.ts',
    find: 'await ports.nodes.patch(snapshot.node.metadata.name, { ...patch })',
    replace:
      'await ports.nodes.patch(snapshot.node.metadata.name, { ...patch, metadata: { ...patch.metadata, resourceVersion: undefined } })',
    tests: ['test/apiserver/drain/traces.test.ts'],
  },
  {
    rule: 'M1',
    does: 'cordons before the status is written',
    file: 'runtime/apiserver/drain/cordon.ts',
    find: '    const shadowVersion = await',
    replace:
      '    const early = cordonPatch(snapshot.node, attempt);\n    if (early) await ports.nodes.patch(snapshot.node.metadata.name, { ...early });\n    const shadowVersion = await',
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
    rule: 'M2',
    does: "drains on where its marks are gone or another drain's",
    file: 'runtime/apiserver/drain/run.ts',
    find: ' || readMarks(node)?.id !== this.id',
    replace: '',
    tests: ['test/apiserver/drain/traces.test.ts'],
  },
  {
    rule: 'M2',
    does: 'evicts on though nobody waits any more',
    file: 'runtime/apiserver/drain/run.ts',
    find: 'if (this.#waiting === 0) this.#countDown();',
    replace: '',
    tests: ['test/apiserver/drain/replicas.test.ts'],
  },
  {
    rule: 'M3',
    does: 'takes an empty watch for an empty Node',
    file: 'runtime/apiserver/drain/filter.ts',
    find: 'return pods.list({ fieldSelector: onNode(nodeName) });',
    replace: 'return Promise.resolve([]);',
    tests: ['test/apiserver/drain/traces.test.ts'],
  },
  {
    rule: 'M3',
    does: 'proves a Node that it has not looked at',
    file: 'runtime/apiserver/drain/engine.ts',
    find: 'await nodes.patch(node.metadata.name, { ...patch });',
    replace:
      'await nodes.patch(node.metadata.name, { ...patch, metadata: { ...patch.metadata, resourceVersion: (await nodes.get(node.metadata.name))!.metadata.resourceVersion } });',
    tests: ['test/apiserver/drain/traces.test.ts'],
  },
  {
    rule: 'M3',
    does: 'proves with a patch that changes nothing',
    file: 'runtime/marks/patches.ts',
    find: 'drained: now, proof }',
    replace: 'drained: now }',
    tests: ['test/marks/marks.test.ts', 'test/apiserver/uncordon-traces.test.ts'],
  },
  {
    rule: 'M3',
    does: 'keeps the proof of a Node that it cordons again',
    file: 'runtime/marks/patches.ts',
    find: '          newestPod,\n',
    replace: '          newestPod,\n          drained: before?.drained,\n',
    tests: ['test/marks/marks.test.ts'],
  },
  {
    rule: 'M4',
    does: 'answers the deadline without a last look',
    file: 'runtime/apiserver/drain/engine.ts',
    find: "    if (end === 'superseded') throw superseded();\n",
    replace:
      "    if (end === 'superseded') throw superseded();\n    if (end === 'deadline') throw this.#tooLate(left, look);\n",
    tests: ['test/apiserver/drain/replicas.test.ts'],
  },
  {
    rule: 'M4',
    does: 'uncordons at the deadline',
    file: 'runtime/apiserver/drain/engine.ts',
    find: "      this.#ports.metrics.drains.inc({ result: 'timeout' });\n",
    replace:
      '    const { name, resourceVersion } = node.metadata;\n    void this.#ports.nodes.patch(name, { metadata: { resourceVersion }, spec: { unschedulable: null } });\n',
    tests: ['test/apiserver/refusals.test.ts'],
  },
  {
    rule: 'M5',
    does: 'reads the shadow before the Node',
    file: 'runtime/apiserver/snapshot.ts',
    find: '  const node = await ports.nodes.get(agent.nodeName);',
    replace:
      '  await ownShadow(ports, agent).then((early) => (ports = { ...ports, shadows: { ...ports.shadows, get: async () => early } }));\n  const node = await ports.nodes.get(agent.nodeName);',
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
    find: 'if (patch) await ports.nodes.patch(agent.nodeName, { ...patch });',
    replace:
      'if (patch) await ports.nodes.patch(agent.nodeName, { ...patch, metadata: { ...patch.metadata, resourceVersion: undefined as never } });',
    tests: ['test/apiserver/uncordon-traces.test.ts'],
  },
  {
    rule: 'M6',
    does: 'takes the marks off before it lifts the cordon',
    file: 'runtime/apiserver/node-service.ts',
    find: 'if (patch) await ports.nodes.patch(agent.nodeName, { ...patch });',
    replace:
      'const { spec, ...marks } = patch ?? { metadata: undefined };\n    if (patch) await ports.nodes.patch(agent.nodeName, { ...marks });\n    if (spec) await ports.nodes.patch(agent.nodeName, { spec });',
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
    find: 'isIdle(shadow)',
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
    find: 'await endUpdate(ports, { shadow, bootId: node.status?.nodeInfo?.bootID }, signal)',
    replace: 'true',
    tests: OF_RELEASES,
  },
];
