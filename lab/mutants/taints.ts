import { type Mutant, mutantsOf } from './mutant.ts';

/** Taints of ours on Nodes. */
export const taintMutants: readonly Mutant[] = [
  ...mutantsOf('runtime/api/marks/taints.ts', ['test/api/marks/taints.test.ts'], {
    'P14: writes its own taint over those of others': ['wanted ? [...others, taint] : others', 'wanted ? [taint] : []'],
  }),
  ...mutantsOf('runtime/controller/plan/gates/preferences.ts', ['test/controller/plan/preferences.test.ts'], {
    'P14: leaves the taint on nodes under a pause': ['(wait.gate === undefined || mayPrepare(wait))', 'true'],
  }),
  ...mutantsOf('runtime/controller/plan/facts/arriving.ts', ['test/controller/plan/arrivals.test.ts'], {
    'P16: counts no update that was begun on a machine as it joined, though pods have come since': [
      'permit?.arriving === true && isArriving(node, at, at.now)',
      'permit?.arriving === true',
    ],
    'P16: counts no machine that drains, though its drain has waited until pods had come': [
      'permit?.arriving === true && isArriving(node, at, at.now)',
      'permit?.arriving === true && (isArriving(node, at, at.now) || node.marks !== undefined)',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/again.ts', ['test/controller/plan/arrivals.test.ts'], {
    'P16: drains a machine in a pause between updates, though pods have come since it began': [
      'if (forPods && hasJoined(asking))',
      'if (forPods && again !== undefined && hasJoined(asking))',
    ],
    'P16: drains a machine without a place, though pods have come since it was told to': [
      'if (forPods && hasJoined(asking))',
      'if (forPods && again === undefined && hasJoined(asking))',
    ],
    'P16: calls off every machine that joined where one is too many': [
      'if (isLeftPlace)',
      'if (isLeftPlace && group === undefined)',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/releases/provers.ts', ['test/controller/plan/arrivals.test.ts'], {
    'P16: counts a machine that joins where a proven release widens': ['({ isSpared }) => !isSpared', '() => true'],
  }),
  ...mutantsOf('runtime/controller/plan/facts/arriving.ts', ['test/controller/arrivals.test.ts'], {
    'P16: spares a machine all budgets whose taint lets pods come': [
      'some((key) => signs.includes(taintSign(key)));',
      'some((key) => taintSigns(key).some((sign) => signs.includes(sign)));',
    ],
  }),
  ...mutantsOf(
    'runtime/controller/seeing/observations.ts',
    ['test/controller/observations.test.ts', 'test/controller/arrivals.test.ts'],
    {
      'P16: pauses others for a machine that has only joined': [
        'if (facts.movedNobody) return last?.view.endedAt;',
        '',
      ],
    },
  ),
  ...mutantsOf('runtime/controller/plan/gates/arrivals.ts', ['test/controller/plan/arrivals.test.ts'], {
    'P16: keeps pods away from a machine for as long as nothing is known': [
      'isKnown(world) ? Math.min(latest, endOf(info, starts, world)) : latest',
      'isKnown(world) ? Math.min(latest, endOf(info, starts, world)) : NEVER',
    ],
  }),
  ...mutantsOf(
    'runtime/controller/plan/gates/arrivals.ts',
    ['test/controller/plan/arrivals.test.ts', 'test/controller/arrivals.test.ts'],
    {
      'P16: keeps pods away from a machine under a pause': [
        "return name === 'proof' || (!mayPrepare({ gate }) && !isWaitedFor);",
        "return name === 'proof' || (!mayPrepare({ gate }) && !isWaitedFor && name !== 'paused');",
      ],
    },
  ),
  ...mutantsOf('runtime/controller/plan/gates/joined.ts', ['test/controller/plan/arrivals.test.ts'], {
    'P16: tries a release first on machines that have just joined': [
      'if (!isArriving || !release || release.proof.isProvenFor(info.node))',
      'if (release !== undefined || !isArriving)',
    ],
  }),
];
