import { type Mutant, mutantsOf } from './mutant.ts';

/** What an update waits for and goes by, for the sake of the pods that run there: M1, as far as it is about room, M10, M11, and pods as evidence (F1). */
export const workloadMutants: readonly Mutant[] = [
  ...mutantsOf('runtime/controller/plan/nodes/settle.ts', ['test/controller/plan/settle.test.ts'], {
    'M10: gives what a drain has displaced no time on a node that was not Ready': [
      'node.ready ? Math.min(Math.max(toldAt, node.readyChangedAt), toldAt + soakTimeoutMs) : toldAt',
      'node.ready ? toldAt : toldAt',
    ],
    'M10: blames a release for what the drain of another node keeps away': [
      'owners.some(({ uid }) => !elsewhere.has(uid))',
      'owners.length + elsewhere.size > 0',
    ],
    'M10: lets nodes that are back excuse each other for what all of them lack': [
      '(!isServing(one) || isLonger(one))',
      'true',
    ],
  }),
  ...mutantsOf('runtime/apiserver/drain/judge.ts', ['test/apiserver/drain/room.test.ts'], {
    'M1: begins a drain that waits for room where the nodes of one look are full': [
      'if (waitsForRoom({ shadow })) return lookOn(ports, name, left);',
      '',
    ],
    'M1: drains where there is no room, whatever the policy waits for': [
      'lack === undefined || !waitsForRoom({ shadow }) || readMarks(node)',
      'true',
    ],
    'M1: takes the room of what drains move that have begun': [', ahead: () => movingElsewhere(ports, name)', ''],
    'M1: keeps a node out of service for as long as there is no room': [' || readMarks(node))', ')'],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/settle.ts', ['test/controller/settle.test.ts'], {
    'M10: goes to the next node as soon as this one is back, whatever its drain has displaced': [
      "if (now < until) return 'waiting';",
      '',
    ],
    'F1: counts on the release what is not back, whatever its policy says': ['rules.settleFails && isOwn', 'isOwn'],
    'F1: counts on the release what nobody has looked at since': [
      'if (until - (instantOf(looked_at) ?? -Infinity) > BELIEVED_MS) return false;',
      '',
    ],
  }),
  ...mutantsOf('runtime/apiserver/drain/displaced.ts', ['test/apiserver/drain/displaced.test.ts'], {
    'M10: waits for owners of the name, whoever they are by now': ['found?.metadata.uid === uid && ', ''],
  }),
  ...mutantsOf('runtime/drain/drain.ts', ['test/apiserver/drain/let-finish.test.ts'], {
    'M11: evicts at once whose work the policy lets finish': [
      '  if (wait) return whileFinishing(letFinish(list, wait), wait, now);\n',
      '',
    ],
    'M11: lets the work of pods finish for ever': ['pods.length === 0 || until <= now ?', 'pods.length === 0 ?'],
  }),
  ...mutantsOf('runtime/controller/plan/gates/others.ts', ['test/controller/plan/room.test.ts'], {
    'L8: lets drains begin at once that take the same room': [
      'if (group?.rules.waitsForRoom !== true ||',
      'if (true ||',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/again.ts', ['test/controller/plan/room.test.ts'], {
    'L8: has drains wait for one that the API server does not let be told to begin': [
      '...(isWithheld ? [] : [beginningOf(info, places)])',
      'beginningOf(info, places)',
    ],
  }),
  ...mutantsOf('runtime/apiserver/drain/room.ts', ['test/apiserver/drain/room.test.ts'], {
    'M1: sends pods to a node that is about to be drained itself': [' || isToMove(node) ? undefined', ' ? undefined'],
  }),
  ...mutantsOf('runtime/drain/room.ts', ['test/drain/room.test.ts'], {
    'M1: has each pod find all that is free on a node': ['    rest = after;\n', ''],
  }),
  ...mutantsOf('runtime/drain/needs.ts', ['test/drain/room.test.ts', 'test/apiserver/drain/room.test.ts'], {
    'M1: finds room on nodes that take no pods': [
      'if (!takesPods || metadata.deletionTimestamp != null) return undefined;',
      '',
    ],
  }),
  ...mutantsOf('runtime/apiserver/workloads/evidence.ts', ['test/apiserver/workloads/evidence.test.ts'], {
    'F1: takes pods that ail elsewhere too for evidence against the release': [
      ' || ailing * ONE_IN > witnesses.length',
      '',
    ],
    'F1: takes a sick machine for a bad release': [' || !mostAil([...here, ...updated])', ''],
  }),
  ...mutantsOf('runtime/apiserver/workloads/look.ts', ['test/apiserver/workloads/look.test.ts'], {
    'F1: takes what ailed before the update for what came with it': [
      'pod && !before.has(pod.owner.uid) ? pod : []',
      'pod ?? []',
    ],
    'F1: compares with nodes that are not Ready': ['node && isReady({ status: node.status ?? {} })', 'node'],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/evidence.ts', ['test/controller/workloads.test.ts'], {
    'F1: counts on the release what its policy only warns of': ['info.ruling.rules.proof.failsWorse === true && ', ''],
    'F1: holds against a release what pods showed on another': [
      'BACK.has(phase.kind) && workloads?.version === version',
      'BACK.has(phase.kind)',
    ],
  }),
];
