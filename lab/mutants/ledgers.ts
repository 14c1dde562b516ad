import type { Mutant } from './mutant.ts';

const ENTERED = 'runtime/controller/plan/releases/entered.ts';
const GONE = 'runtime/controller/plan/nodes/gone.ts';
const TRIAL = 'runtime/controller/plan/nodes/trial.ts';
const BOOKS = 'runtime/controller/plan/releases/books.ts';
const PROOF = 'runtime/controller/plan/releases/proof.ts';
const HALTS = ['test/controller/plan/halts.test.ts'];
const ENTRIES = ['test/controller/plan/entries.test.ts'];
const KEPT = [...HALTS, ...ENTRIES, 'test/api/release/kept.test.ts'];
const OF_BLAME = ['test/controller/plan/blame.test.ts'];

/** Rules F2 to F4: what is remembered of a release, and what is risked on it. */
export const ledgerMutants: readonly Mutant[] = [
  {
    rule: 'F3',
    does: 'takes the failure of an earlier attempt for that in which the node went',
    file: 'runtime/controller/plan/releases/entered.ts',
    find: 'ledger.failures[uid]?.attempt === failure.attempt',
    replace: 'uid in ledger.failures',
    tests: ['test/controller/plan/entries.test.ts'],
  },
  {
    rule: 'F3',
    does: 'lets an update come to rest before its failure is entered',
    file: ENTERED,
    find: 'return !end || permit?.ended !== undefined || this.#isKnown(node, end);',
    replace: 'return !end || node.name !== permit?.id;',
    tests: KEPT,
  },
  {
    rule: 'F3',
    does: 'lets an update come to rest while its release is still blamed for the node',
    file: ENTERED,
    find: "if (health.soak === 'passed') return !this.#hasEntry(node, shadow?.spec.version ?? '');",
    replace: "if (health.soak === 'passed') return true;",
    tests: KEPT,
  },
  {
    rule: 'F3',
    does: 'keeps the entry of a node that has long recovered',
    file: ENTERED,
    find: 'if (at <= now) kept = remove(kept, uid);',
    replace: 'if (at <= now) kept = { ...kept };',
    tests: KEPT,
  },
  {
    rule: 'F3',
    does: 'takes a node that is gone, with all that could tell of it, for one that was not asked to reboot',
    file: GONE,
    find: 'if (rebootAskedAt !== undefined || !shadow?.status) return true;',
    replace: 'if (rebootAskedAt !== undefined || !shadow?.status) return rebootAskedAt !== undefined;',
    tests: KEPT,
  },
  {
    rule: 'F1',
    does: 'blames nobody for a machine that was asked for its reboot and is given up',
    file: GONE,
    find: 'if (!ended && !mayBeAsked(permit, lastOf(permit, snapshot), lastOfNode(uid, snapshot))) return undefined;',
    replace: 'if (!ended) return undefined;',
    tests: ['test/api/release/two-leaders.test.ts'],
  },
  {
    rule: 'F3',
    does: 'takes a node that is gone for one that was not asked to reboot, though its drain was over',
    file: GONE,
    find: ': !node || isDrainOver(node);',
    replace: ': !node;',
    tests: ENTRIES,
  },
  {
    rule: 'F3',
    does: 'takes a node that was in its drain when it was deleted for one that was asked to reboot',
    file: GONE,
    find: ': !node || isDrainOver(node);',
    replace: ': true;',
    tests: ENTRIES,
  },
  {
    rule: 'F1',
    does: 'blames nobody for a machine that is given up soon after its update',
    file: GONE,
    find: '!last.ready && last.managed && !isInHands(last)',
    replace: 'last.ready && last.managed && !isInHands(last)',
    tests: ENTRIES,
  },
  {
    rule: 'F1',
    does: 'blames nobody for a node that goes not Ready again and again after its update',
    file: TRIAL,
    find: 'return node.ready ? node.readyFrom + Math.max(soakMs, soakTimeoutMs) : NEVER;',
    replace: 'return node.ready ? -Infinity : NEVER;',
    tests: OF_BLAME,
  },
  {
    rule: 'F3',
    does: 'leaves a node whose failure no ledger takes as it is',
    file: ENTERED,
    find: "const isToRest = phase.kind === 'failed' || health.agentSilent;",
    replace: 'const isToRest = health.agentSilent;',
    tests: KEPT,
  },
  {
    rule: 'F3',
    does: 'gives a permit back that alone knows of a failure',
    file: ENTERED,
    find: '    if (ended) return [];\n',
    replace: '',
    tests: KEPT,
  },
  {
    rule: 'P5',
    does: 'lets a release go on that is halted where it was complete once',
    file: 'runtime/controller/plan/groups/dependencies.ts',
    find: '    if (releases.of(family, version).isHalted) return false;\n',
    replace: '',
    tests: ['test/controller/plan/dependencies.test.ts'],
  },
  {
    rule: 'P5',
    does: 'passes over a policy where another claims all of its nodes',
    file: 'runtime/controller/plan/groups/dependencies.ts',
    find: 'if (members > 0 || isContested || ',
    replace: 'if (members > 0 || ',
    tests: ['test/controller/plan/dependencies.test.ts'],
  },
  {
    rule: 'F3',
    does: 'enters again what a person has cleared',
    file: 'runtime/api/release/ledger.ts',
    find: '  if (ledger.cleared[uid]?.attempt === failure.attempt) return ledger;\n',
    replace: '',
    tests: KEPT,
  },
  {
    rule: 'F4',
    does: 'starts nodes on a release of which nothing could be remembered',
    file: 'runtime/controller/plan/gates/gates.ts',
    find: 'return stopping(release && ledgers.unkept(release));',
    replace: 'return stopping(release && ledgers.unkept(release) && undefined);',
    tests: KEPT,
  },
  {
    rule: 'F4',
    does: 'forgets a failure with the policy that ruled its node',
    file: BOOKS,
    find: 'return ruler === name || !names.has(ruler);',
    replace: 'return ruler === name || names.size < 0;',
    tests: HALTS,
  },
  {
    rule: 'F2',
    does: 'ends a halt when the fleet grows, or once the release is proven',
    file: PROOF,
    find: 'return haltedBy ?? this.#limit(wasProven);',
    replace: 'return Math.max(haltedBy ?? 0, this.#limit(wasProven));',
    tests: HALTS,
  },
  {
    rule: 'F2',
    does: 'ends a halt while it is not known whether people have ended it',
    file: BOOKS,
    find: 'counted: limit !== undefined && !isCurrent ? Math.max(own.length, limit) : own.length,',
    replace: 'counted: limit !== undefined && !isCurrent ? own.length : own.length,',
    tests: HALTS,
  },
  {
    rule: 'F2',
    does: 'believes a proof that is asked no more',
    file: BOOKS,
    find: ' && before.met === saysOf(rules);',
    replace: ' && before.met !== undefined;',
    tests: HALTS,
  },
  {
    rule: 'F2',
    does: 'risks as many nodes under each policy as may fail over all of them',
    file: PROOF,
    find: '[over.place(as)]',
    replace: '[]',
    tests: HALTS,
  },
];
