import { type Mutant, mutantsOf } from './mutant.ts';

/** Rules B: what happened to the host. */
export const bootMutants: readonly Mutant[] = [
  ...mutantsOf('runtime/agent/steps/reboot.ts', ['test/agent/boots.test.ts'], {
    'B1: reboots without a record': ['isKept &&= await recordRequest(context, version, signal);\n', ''],
    'B1: reboots by a drain of long ago': ['if (!isOld(at)) return;', 'return;'],
    'B1: takes a drain for the last one that came before the probe': [
      'drainedAt: isProbed ? drainedAt : -Infinity',
      'drainedAt',
    ],
    'B2: goes on after a boot that nobody asked for without a probe': [
      ' await expectProbe(context, version, signal);\n',
      ' await Promise.resolve();\n',
    ],
  }),
  ...mutantsOf('runtime/agent/steps/reboot.ts', ['test/agent/last-look.test.ts'], {
    'B3: disturbs a node for what its host is not offered any more': [
      '  await expectOffered(context, version, signal);\n',
      '',
    ],
    'B3: downloads again on a drained node what an agent that was killed had checked': [
      "  if (hasStaged(status, version) && (await wasDisturbed(context, signal))) return 'staged';\n",
      '',
    ],
  }),
  ...mutantsOf('runtime/agent/decide.ts', ['test/agent/decide.test.ts'], {
    'B2: takes a probe for the record of a reboot': [
      'reboot?.requested_at != null && reboot.version === version;',
      'reboot != null && reboot.version === version;',
    ],
  }),
  ...mutantsOf('runtime/agent/steps/stage.ts', ['test/agent/other-image.test.ts'], {
    'B3: activates whatever is staged': [' && status.staging?.image.version === version', ''],
  }),
  ...mutantsOf('runtime/agent/hosts/bottlerocket/bottlerocket.ts', ['test/agent/hosts/faults.test.ts'], {
    'B3: reboots into what somebody has prepared right before the activation': [
      '    if (!holds(after, version)) throw notStaged(after, version);\n',
      '',
    ],
  }),
  ...mutantsOf('runtime/agent/steps/stage.ts', ['test/agent/traces.test.ts'], {
    'B3: prepares on a host that is activated': ['host.deactivate(signal)', 'host.status(signal)'],
  }),
  ...mutantsOf('runtime/agent/decide.ts', ['test/agent/traces.test.ts'], {
    'B4: obeys the shadow of an earlier Node of its name': [
      "  if (!belongsTo(shadow, view.nodeUid)) return { kind: 'identify' };\n",
      '',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/health.ts', ['test/controller/plan/remembered.test.ts'], {
    'B4: goes by the shadow that a node had when it was last planned on': [
      'known.node === node && known.shadow === shadow ? known',
      'known.node === node && shadow ? known',
    ],
    'B4: goes by what a node was when it was last planned on': [
      'known.node === node && known.shadow === shadow ? known',
      'known.shadow === shadow ? known',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/join.ts', ['test/controller/plan/remembered.test.ts'], {
    'B4: goes by the permit and the agent that a node had when it was last planned on': [
      'const known = rest === NOTHING ? kept(node, shadow, at) : undefined;',
      'const known = kept(node, shadow, at);',
    ],
  }),
  ...mutantsOf('runtime/agent/loop.ts', ['test/agent/failing-paths.test.ts'], {
    'B6: deactivates the host before the record is cleared': [
      "  if (error.reason !== 'BootFailed') await apiserver.report((now) => ({ ...nothingStaged(now), reboot: null }), signal);\n",
      '',
    ],
  }),
  ...mutantsOf('runtime/agent/loop.ts', ['test/agent/traces.test.ts'], {
    'B6: leaves the host activated where an update is given up': [
      'await hostWork.tryToDeactivate(signal);\n',
      'undefined as HostError | undefined;\n',
    ],
  }),
  ...mutantsOf('runtime/agent/steps/offer.ts', ['test/agent/deactivation.test.ts'], {
    'B6: asks a host once to be deactivated, and never again': [
      "state === 'Ready' || hostWork.owesDeactivation",
      'false',
    ],
  }),
  ...mutantsOf('runtime/agent/status.ts', ['test/agent/refused-status.test.ts'], {
    'B8: reboots though the record was refused': [
      'addsRecord(status, view) ? [] : [inOlderContract(status, view)]',
      '[inOlderContract(status, view)]',
    ],
  }),
  ...mutantsOf('runtime/apiserver/shadow-service.ts', ['test/apiserver/late-status.test.ts'], {
    'B5: writes a status to a shadow on which the agent did not act': [
      'version !== undefined && version !== resourceVersion',
      'false',
    ],
    'B5: writes a status to the shadow that the replica has seen last': [
      "return { resourceVersion: version, spec: { state: 'Idle' },",
      "return { resourceVersion: ports.shadows.recent(name)?.metadata.resourceVersion ?? version, spec: { state: 'Idle' },",
    ],
  }),
  ...mutantsOf('runtime/apiserver/status-patch.ts', ['test/apiserver/late-status.test.ts'], {
    'B5: takes a status for one that newly reaches its state, where nobody has said so': [
      'return before === undefined || isOfOlder(sent)',
      'return isOfOlder(sent)',
    ],
  }),
  ...mutantsOf(
    'runtime/controller/writing/actions/ports.ts',
    ['test/controller/stale-caches.test.ts', 'test/controller/views.test.ts'],
    {
      "B4: takes the shadow of an earlier Node for this one's": ['belongsTo(found, nodeUid)', 'found'],
    },
  ),
];
