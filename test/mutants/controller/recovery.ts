import { rowsOf } from './rows.ts';

/** Rules M6 and M8: what the controller undoes because nobody else will. */
export const recoveryMutants = [
  ...rowsOf(
    'plan/recovery.ts',
    ['plan/recovery', 'rollout'],
    [
      [
        'M6',
        'leaves a cordon ours that somebody lifted',
        "node.marks?.owns.includes('cordon') === true && !node.unschedulable",
        'false',
      ],
      ['M6', 'disowns a cordon that stands', '=== true && !node.unschedulable', '=== true'],
      [
        'M8a',
        'leaves marks on a node at rest',
        'if (node.marks && isIdle(shadow)) return releaseOf(node, shadow.name);',
        '',
      ],
      [
        'M8a',
        'releases marks of an update that runs',
        'if (node.marks && isIdle(shadow)) return',
        'if (node.marks) return',
      ],
      [
        'M8b',
        'releases marks without a shadow while the agent runs',
        'node.marks && silentSince !== undefined ? releaseOf',
        'node.marks ? releaseOf',
      ],
      [
        'M8b',
        'leaves marks without a shadow',
        'node.marks && silentSince !== undefined ? releaseOf(node, node.shadowName) : undefined',
        'undefined',
      ],
      ['M8c', 'rescues nobody', 'if (agentSilent && needsRescue(node, shadow))', 'if (needsRescue === undefined)'],
      [
        'M8c',
        'rescues a node whose agent runs',
        'if (agentSilent && needsRescue(node, shadow))',
        'if (needsRescue(node, shadow))',
      ],
      [
        'M8c',
        'leaves an update without marks to its silent agent',
        'return node.marks !== undefined || (',
        'return node.marks !== undefined && (',
      ],
      [
        'M8c',
        'takes the spec from an agent that is back from its reboot',
        "(shadow.spec.state !== 'Idle' && !isBackFromReboot(node.bootId, shadow))",
        "shadow.spec.state !== 'Idle'",
      ],
      ['M8', 'leaves the shadow of a node that lost its label', 'if (!node.managed) return deletion(shadow);', ''],
      [
        'M8',
        'acts on a view from before its own write',
        'if (shadow) return shadow.stale ? undefined : recoverWith(node, shadow, health);',
        'if (shadow) return recoverWith(node, shadow, health);',
      ],
      [
        'L3(1d)',
        'gives up a node whose agent is there',
        'if (!agentSilent || !shadow) return false;',
        'if (!shadow) return false;',
      ],
    ],
  ),
  ...rowsOf(
    'plan/subject.ts',
    ['plan/recovery', 'plan/verdicts'],
    [
      [
        'B4',
        'obeys the shadow of a former node of the name',
        'shadow: shadow?.owners.includes(node.uid) ? shadow : undefined,',
        'shadow,',
      ],
    ],
  ),
  ...rowsOf(
    'plan/health.ts',
    ['plan/recovery', 'plan/starts', 'plan/verdicts'],
    [
      [
        'M8c',
        'takes an agent for silent at once',
        'Math.max(silentSince, node.readinessSeenAt) + agentTimeoutMs',
        'Math.max(silentSince, node.readinessSeenAt)',
      ],
      [
        'M8c',
        'counts the silence of a node that was down',
        'Math.max(silentSince, node.readinessSeenAt) + agentTimeoutMs',
        'silentSince + agentTimeoutMs',
      ],
      [
        'M8c',
        'takes the agent of a node that is not Ready for silent',
        'if (silentSince === undefined || !node.ready) return false;',
        'if (silentSince === undefined) return false;',
      ],
    ],
  ),
  ...rowsOf(
    'views.ts',
    ['rollout'],
    [
      [
        'M8c',
        'takes a container that waits for one that runs',
        '({ state }) => state?.running != null',
        '({ state }) => state != null',
      ],
    ],
  ),
  ...rowsOf(
    'actions/recovery.ts',
    ['stale-caches', 'rollout', 'traces'],
    [
      [
        'M8a',
        'releases marks at rest by the cache alone',
        'shadow ? isIdle(shadow) : !(await agentRuns(ports, nodeName, signal))',
        'shadow ? true : !(await agentRuns(ports, nodeName, signal))',
      ],
      [
        'M8b',
        'releases marks without an agent by the cache alone',
        'shadow ? isIdle(shadow) : !(await agentRuns(ports, nodeName, signal))',
        'shadow ? isIdle(shadow) : true',
      ],
      [
        'M8c',
        'rescues by what the cache says of the agent',
        "if (!shadow || (await agentRuns(ports, nodeName, signal))) return 'moved';",
        "if (!shadow) return 'moved';",
      ],
      [
        'M8c',
        'rescues by what the cache says of the node',
        "if (!node || !viewOfNode(node).ready) return 'moved';",
        "if (!node) return 'moved';",
      ],
      [
        'M8c',
        'releases without ending the update first',
        'const ended = await endUpdate(ports, { shadow, bootId: node.status?.nodeInfo?.bootID }, signal);',
        'const ended = true;',
      ],
      [
        'M8c',
        'ends the update of a node that is back from its reboot',
        "if (spec.state === 'Idle' || isBackFromReboot(bootId, shadow)) return false;",
        "if (spec.state === 'Idle') return false;",
      ],
      [
        'M8c',
        'ends the update and leaves the marks',
        'const released = await patchNode(ports, { nodeName, patch: releasePatch(node) }, signal);',
        "const released = 'done' as const;",
      ],
      [
        'M6',
        'gives up all marks where only the cordon was lifted',
        'patch: node && disownCordonPatch(node)',
        'patch: node && releasePatch(node)',
      ],
    ],
  ),
  ...rowsOf(
    'plan/plan.ts',
    ['plan/machine', 'plan/recovery', 'plan/properties'],
    [
      [
        'L6',
        'goes on on a view from before its own write',
        '!shadow || shadow.stale || health.agentSilent) return undefined;',
        '!shadow || health.agentSilent) return undefined;',
      ],
      [
        'M8c',
        'goes on with an update whose agent is silent',
        '|| shadow.stale || health.agentSilent) return undefined;',
        '|| shadow.stale) return undefined;',
      ],
      [
        'M8',
        'goes on with an update that it undoes',
        "recovery === undefined || recovery.kind === 'disown'",
        'recovery !== null',
      ],
    ],
  ),
];
