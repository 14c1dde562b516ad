import type { Mutant } from '../mutant.ts';

const TRACES = 'test/apiserver/drain/traces.test.ts';
const RULES = 'test/apiserver/rules.test.ts';
const MARKS = 'test/marks/marks.test.ts';
const ADMISSION = 'runtime/apiserver/drain/admission.ts';
const RULES_FILE = 'runtime/apiserver/rules.ts';
const SIGHT = 'runtime/apiserver/sight.ts';
const PATCHES = 'runtime/marks/patches.ts';

/** Whether a node may be drained now, and how it is cordoned. */
export const admissionMutants: readonly Mutant[] = [
  {
    rule: 'B4',
    without: 'the look whether the Node is the one that the agent runs on',
    file: SIGHT,
    find: "  if (node?.metadata.uid !== agent.nodeUid) throw notAllowed('the node was replaced or deleted');",
    replace: "  if (!node) throw notAllowed('the node was replaced or deleted');",
    tests: [RULES],
  },
  {
    rule: 'B4',
    without: 'the look whether the shadow is the Node’s own',
    file: SIGHT,
    find: 'if (!belongsTo(shadow, agent.nodeUid))',
    replace: 'if (shadow === undefined)',
    tests: [RULES],
  },
  {
    rule: 'M1',
    without: 'the spec: a node is drained in any step',
    file: RULES_FILE,
    find: "  if (spec.state !== 'RebootedIntoUpdate') return",
    replace: '  if (!spec) return',
    tests: [RULES],
  },
  {
    rule: 'M1',
    without: 'the failure that was reported: the attempt goes on',
    file: RULES_FILE,
    find: "new Set<State>(['RebootedIntoUpdate', 'ErrorReset'])",
    replace: "new Set<State>(['RebootedIntoUpdate'])",
    tests: [RULES],
  },
  {
    rule: 'M1',
    without: 'the update that was reported: the attempt goes on',
    file: RULES_FILE,
    find: "new Set<State>(['RebootedIntoUpdate', 'ErrorReset'])",
    replace: "new Set<State>(['ErrorReset'])",
    tests: [RULES],
  },
  {
    rule: 'M1',
    without: 'the boot: a node is drained again after the reboot that was requested',
    file: RULES_FILE,
    find: 'record.boot_id !== node.status?.nodeInfo?.bootID;',
    replace: 'record.boot_id === undefined;',
    tests: [RULES],
  },
  {
    rule: 'B2',
    without: 'the difference between a probe and the record of a reboot',
    file: RULES_FILE,
    find: 'record?.requested_at != null &&',
    replace: 'record != null &&',
    tests: [RULES],
  },
  {
    rule: 'M1',
    without: 'the version of the shadow that was looked at, when its status is written',
    file: ADMISSION,
    find: '{ metadata: { resourceVersion }, status: { drain: progress } }',
    replace: '{ status: { drain: progress } }',
    tests: [TRACES],
  },
  {
    rule: 'M1',
    without: 'the version of the node that was looked at, when it is cordoned',
    file: ADMISSION,
    find: 'await ports.nodes.patch(sight.node.metadata.name, { ...patch })',
    replace:
      'await ports.nodes.patch(sight.node.metadata.name, { ...patch, metadata: { ...patch.metadata, resourceVersion: undefined } })',
    tests: [TRACES],
  },
  {
    rule: 'whichever write is the last, the next request brings it to its end',
    without: 'the one patch of marks and cordon: the cordon comes first',
    file: ADMISSION,
    find: '    const patch = cordonPatch(sight.node, attempt);\n',
    replace: `    const patch = cordonPatch(sight.node, attempt);
    if (patch) {
      const { metadata } = await ports.nodes.patch(sight.node.metadata.name, { spec: patch.spec });
      Object.assign(patch.metadata, { resourceVersion: metadata.resourceVersion });
    }
`,
    tests: ['test/apiserver/killed.test.ts'],
  },
  {
    rule: 'M1',
    without: 'the order: the node is cordoned before the status is written',
    file: ADMISSION,
    find: '    const { resourceVersion: shadowVersion } = await',
    replace: `    const early = cordonPatch(sight.node, attempt);
    if (early) await ports.nodes.patch(sight.node.metadata.name, { ...early });
    const { resourceVersion: shadowVersion } = await`,
    tests: [TRACES],
  },
  {
    rule: 'M1',
    without: 'the write of the status: nothing but the node is written',
    file: ADMISSION,
    find: '= await state(ports, considered);\n    const patch',
    replace: '= sight.shadow.metadata;\n    const patch',
    tests: [TRACES],
  },
  {
    rule: 'M1',
    without: 'the new look after a 409',
    file: SIGHT,
    find: 'error instanceof ConflictError || error instanceof NotFoundError',
    replace: 'error instanceof NotFoundError',
    tests: [TRACES],
  },
  {
    rule: 'M1',
    without: 'the new look after a 404',
    file: SIGHT,
    find: 'error instanceof ConflictError || error instanceof NotFoundError',
    replace: 'error instanceof ConflictError',
    tests: [TRACES],
  },
  {
    rule: 'M1',
    without: 'the renewal of marks of another boot',
    file: PATCHES,
    find: "  return marks.id !== '' && !otherBoot;",
    replace: "  return marks.id !== '' && (otherBoot || !otherBoot);",
    tests: [MARKS],
  },
  {
    rule: 'M1',
    without: 'the exception that a boot which is not said is not another one',
    file: PATCHES,
    find: 'marks.boot !== null && attempt.boot !== null && ',
    replace: '',
    tests: [MARKS],
  },
  {
    rule: 'M1',
    without: 'the new beginning of a drain that was renewed: it has the old deadline',
    file: PATCHES,
    find: 'return { id, since: now, boot, newestPod };',
    replace: 'return { id, since: marks?.since ?? now, boot, newestPod };',
    tests: [MARKS],
  },
  {
    rule: 'M1',
    without: 'what renewed marks owned before: the cordon of the boot before is nobody’s',
    file: PATCHES,
    find: 'owns: union(before?.owns, taken)',
    replace: 'owns: union(before?.id === id ? before.owns : [], taken)',
    tests: [TRACES],
    name: '19:',
  },
  {
    rule: 'M1',
    without: 'the boot id of the agent in its marks',
    file: 'runtime/apiserver/auth/authenticator.ts',
    find: 'return { ...holder, bootId };',
    replace: 'return { ...holder, bootId: null };',
    tests: ['test/apiserver/auth/authenticator.test.ts', 'test/apiserver/http.test.ts'],
  },
  {
    rule: 'a node that cannot be drained stays in service',
    without: 'the preflight before the exclusion from load balancers',
    file: 'runtime/apiserver/service.ts',
    find: "      if (settings.preflight === 'refuse') await expectDrainable(ports, { ...settings, agent });\n",
    replace: '',
    tests: ['test/apiserver/drain/preflight.test.ts'],
  },
  {
    rule: 'a refusal leaves nothing on a node',
    without:
      'the look for marks: of the boot before, or of the exclusion from load balancers, they stay for as long as a budget does',
    file: 'runtime/apiserver/drain/preflight.ts',
    find: "return readMarks(node) ? 'warn' : set;",
    replace: 'return set;',
    tests: ['test/apiserver/drain/preflight.test.ts'],
  },
  {
    rule: 'a grace is the most that a pod takes',
    without: 'what a pod that is ending was given',
    file: 'runtime/apiserver/drain/preflight.ts',
    find: 'metadata.deletionGracePeriodSeconds ?? spec',
    replace: 'spec',
    tests: ['test/apiserver/drain/preflight.test.ts'],
  },
  {
    rule: 'a node that cannot be drained stays in service',
    without: 'the refusal of the drain',
    file: ADMISSION,
    find: '    if (refusal) return refuse(ports, considered, refusal);\n',
    replace: '',
    tests: ['test/apiserver/drain/preflight.test.ts'],
  },
];
