import { type Mutant, mutantsOf } from './mutant.ts';

const VERSIONS = 'runtime/controller/plan/gates/versions.ts';
const WISHES = 'runtime/controller/plan/gates/wishes.ts';
const WELLNESS = 'runtime/controller/seeing/wellness.ts';
const LEDGERS = 'runtime/controller/plan/facts/ledgers.ts';

/** Rules P: which versions a policy takes, and what is wanted of hosts for that, and which nodes are well. */
export const versionMutants: readonly Mutant[] = [
  ...mutantsOf(VERSIONS, ['test/controller/plan/versions.test.ts'], {
    'P11: takes what is above the highest version of a policy': [
      'if (max !== undefined && compareSemver(version, max) > 0)',
      'if (max === version)',
    ],
    'P11: asks a way back for its age': [
      '=== 0 || !release || !isAbove(release.version, shadow.status?.current_version)',
      '=== 0 || !release',
    ],
  }),
  ...mutantsOf(VERSIONS, ['test/controller/plan/gates.test.ts', 'test/controller/plan/promotion.test.ts'], {
    'P11: takes a release however young it is': ['if (until <= now) return PASS;', 'if (until !== now) return PASS;'],
    'P11: takes what nobody has approved': [
      'if (isDownwards(asking) || ledgers.isApproved(release, name))',
      'if (isDownwards(asking) || ledgers.isApproved(release, name) !== undefined)',
    ],
  }),
  ...mutantsOf(VERSIONS, ['test/controller/plan/wishes.test.ts'], {
    'P11: starts a node whose host is still locked to another version': [
      'otherLock(shadow, version) ?? otherVersion',
      'otherVersion',
    ],
  }),
  ...mutantsOf(WISHES, ['test/controller/plan/wishes.test.ts', 'test/controller/wishes.test.ts'], {
    'P12: changes what is wanted of a host while its update is under way': [
      "phase.kind === 'resting' && shadow.spec.state === 'Idle' && !permit &&",
      '',
    ],
  }),
  ...mutantsOf(WISHES, ['test/controller/plan/wishes.test.ts'], {
    'P12: unlocks hosts whose policy is away for a moment': ['dueAt(one) > now ? []', 'dueAt(one) === now ? []'],
  }),
  ...mutantsOf(WELLNESS, ['test/controller/wellness.test.ts'], {
    'P13: takes a node that was unwell for one that was Ready all along': [
      'if (!node.ready || seenAt <= node.readyFrom) return node;',
      'if (seenAt <= Infinity) return node;',
    ],
    'P13: forgets with each leader that a node was unwell until a moment ago': [
      'monotonic - Math.max(0, now - Math.max(...turns))',
      '-Infinity',
    ],
    'P13: counts nodes as Ready that their policy calls unwell': ['    ready: false,\n', ''],
  }),
  ...mutantsOf(LEDGERS, ['test/controller/plan/promotion.test.ts'], {
    'P11: takes an approval for another policy': [
      'approvedFor?.includes(policy)',
      'approvedFor !== undefined && policy !== undefined',
    ],
  }),
  ...mutantsOf(
    'runtime/api/release/names.ts',
    ['test/controller/plan/way-back.test.ts', 'test/controller/plan/rolled-back.test.ts'],
    {
      'P12: takes back the nodes of every policy where one is named': [
        'one === ANY_POLICY || one === policy',
        'one !== ""',
      ],
    },
  ),
  ...mutantsOf(
    'runtime/controller/plan/releases/proof.ts',
    ['test/controller/plan/way-back.test.ts', 'test/controller/plan/rolled-back.test.ts'],
    {
      'F4: starts nodes on what others are taken back from': [
        "this.#book.people.decision === 'Halt' || this.isRolledBack",
        "this.#book.people.decision === 'Halt'",
      ],
    },
  ),
  ...mutantsOf(
    'runtime/controller/plan/groups/way-back.ts',
    ['test/controller/plan/way-back.test.ts', 'test/controller/plan/rolled-back.test.ts'],
    {
      'P12: keeps a host locked for good to what it cannot go back to': [
        'if (refused == null || !FOR_GOOD.has(refused))',
        'if (refused !== before)',
      ],
    },
  ),
  ...mutantsOf('runtime/controller/plan/groups/checks.ts', ['test/controller/plan/way-back.test.ts'], {
    'P12: checks what nodes go back to, so that what ails the cluster takes them back further': [
      'return waits && wayBack(info, group) !== version;',
      'return waits;',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/releases/books.ts', ['test/controller/plan/way-back.test.ts'], {
    'F2: halts what was proven by fewer failures once its policy asks for another proof': [
      '      wasProven,',
      '      wasProven: isProven,',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/others.ts', ['test/controller/plan/promotion.test.ts'], {
    'P5: waits for the first of several places alone': [
      'group.rules.afterExternal.find(',
      'group.rules.afterExternal.slice(0, 1).find(',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/releases/proof.ts', ['test/controller/plan/way-back.test.ts'], {
    'P12: takes nodes back from a release that people have halted': [
      'if (!this.isHalted || this.#isHaltedByPeople) return false;',
      'if (!this.isHalted) return false;',
    ],
  }),
];
