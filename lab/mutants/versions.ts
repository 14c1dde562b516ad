import type { Mutant } from './mutant.ts';

const VERSIONS = 'runtime/controller/plan/gates/versions.ts';
const WISHES = 'runtime/controller/plan/gates/wishes.ts';
const WELLNESS = 'runtime/controller/seeing/wellness.ts';
const LEDGERS = 'runtime/controller/plan/facts/ledgers.ts';

/** Rules P: which versions a policy takes, and what is wanted of hosts for that, and which nodes are well. */
export const versionMutants: readonly Mutant[] = [
  {
    rule: 'P11',
    does: 'takes what is above the highest version of a policy',
    file: VERSIONS,
    find: 'if (max !== undefined && compareSemver(version, max) > 0)',
    replace: 'if (max === version)',
    tests: ['test/controller/plan/versions.test.ts'],
  },
  {
    rule: 'P11',
    does: 'starts a node whose host is still locked to another version',
    file: VERSIONS,
    find: 'otherLock(shadow, version) ?? otherVersion',
    replace: 'otherVersion',
    tests: ['test/controller/plan/wishes.test.ts'],
  },
  {
    rule: 'P11',
    does: 'asks a way back for its age',
    file: VERSIONS,
    find: '=== 0 || !release || !isAbove(release.version, shadow.status?.current_version)',
    replace: '=== 0 || !release',
    tests: ['test/controller/plan/versions.test.ts'],
  },
  {
    rule: 'P12',
    does: 'changes what is wanted of a host while its update is under way',
    file: WISHES,
    find: "phase.kind === 'resting' && shadow.spec.state === 'Idle' && !permit &&",
    replace: '',
    tests: ['test/controller/plan/wishes.test.ts', 'test/controller/wishes.test.ts'],
  },
  {
    rule: 'P12',
    does: 'unlocks hosts whose policy is away for a moment',
    file: WISHES,
    find: 'dueAt(one) > now ? []',
    replace: 'dueAt(one) === now ? []',
    tests: ['test/controller/plan/wishes.test.ts'],
  },
  {
    rule: 'P13',
    does: 'takes a node that was unwell for one that was Ready all along',
    file: WELLNESS,
    find: 'if (!node.ready || seenAt <= node.readyFrom) return node;',
    replace: 'if (seenAt <= Infinity) return node;',
    tests: ['test/controller/wellness.test.ts'],
  },
  {
    rule: 'P13',
    does: 'forgets with each leader that a node was unwell until a moment ago',
    file: WELLNESS,
    find: 'monotonic - Math.max(0, now - Math.max(...turns))',
    replace: '-Infinity',
    tests: ['test/controller/wellness.test.ts'],
  },
  {
    rule: 'P13',
    does: 'counts nodes as Ready that their policy calls unwell',
    file: WELLNESS,
    find: '    ready: false,\n',
    replace: '',
    tests: ['test/controller/wellness.test.ts'],
  },
  {
    rule: 'P11',
    does: 'takes an approval for another policy',
    file: LEDGERS,
    find: 'approvedFor?.includes(policy)',
    replace: 'approvedFor !== undefined && policy !== undefined',
    tests: ['test/controller/plan/promotion.test.ts'],
  },
  {
    rule: 'P12',
    does: 'takes back the nodes of every policy where one is named',
    file: 'runtime/api/release/names.ts',
    find: 'one === ANY_POLICY || one === policy',
    replace: 'one !== ""',
    tests: ['test/controller/plan/way-back.test.ts'],
  },
  {
    rule: 'F4',
    does: 'starts nodes on what others are taken back from',
    file: 'runtime/controller/plan/releases/proof.ts',
    find: "this.#book.decision === 'Halt' || this.isRolledBack",
    replace: "this.#book.decision === 'Halt'",
    tests: ['test/controller/plan/way-back.test.ts'],
  },
  {
    rule: 'F2',
    does: 'halts what was proven by fewer failures once its policy asks for another proof',
    file: 'runtime/controller/plan/releases/books.ts',
    find: '      wasProven,',
    replace: '      wasProven: isProven,',
    tests: ['test/controller/plan/way-back.test.ts'],
  },
  {
    rule: 'P5',
    does: 'waits for the first of several places alone',
    file: 'runtime/controller/plan/gates/others.ts',
    find: 'group.rules.afterExternal.find(',
    replace: 'group.rules.afterExternal.slice(0, 1).find(',
    tests: ['test/controller/plan/promotion.test.ts'],
  },
  {
    rule: 'P12',
    does: 'takes nodes back from a release that people have halted',
    file: 'runtime/controller/plan/releases/proof.ts',
    find: 'if (!this.isHalted || this.isHaltedByPeople) return false;',
    replace: 'if (!this.isHalted) return false;',
    tests: ['test/controller/plan/way-back.test.ts'],
  },
];
