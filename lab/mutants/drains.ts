import type { Mutant } from './mutant.ts';

/** Rules M2 to M4: what a drain evicts, and how it ends. */
export const drainMutants: readonly Mutant[] = [
  {
    rule: 'M2',
    does: "drains on where its marks are gone or another drain's",
    file: 'runtime/apiserver/drain/run.ts',
    find: ' || readMarks(node)?.id !== this.id',
    replace: '',
    tests: ['test/apiserver/drain/traces.test.ts'],
  },
  {
    rule: 'M3',
    does: 'takes an empty watch for an empty Node',
    file: 'runtime/apiserver/drain/cordon.ts',
    find: 'await listWhole(ports.transport, podsOn(agent.nodeName))',
    replace: "await Promise.resolve({ items: [], version: '' })",
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
    file: 'runtime/api/marks/patches.ts',
    find: 'drained: now, proof }',
    replace: 'drained: now }',
    tests: ['test/api/marks/marks.test.ts', 'test/apiserver/uncordon-traces.test.ts'],
  },
  {
    rule: 'M3',
    does: 'keeps the proof of a Node that it cordons again',
    file: 'runtime/api/marks/patches.ts',
    find: '          newestPod,\n',
    replace: '          newestPod,\n          drained: before?.drained,\n',
    tests: ['test/api/marks/marks.test.ts'],
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
];
