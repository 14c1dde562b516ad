import { type Mutant, mutantsOf } from './mutant.ts';

const ENTERED = 'runtime/controller/plan/releases/entered.ts';
const GONE = 'runtime/controller/plan/nodes/gone.ts';
const TRIAL = 'runtime/controller/plan/nodes/trial.ts';
const BOOKS = 'runtime/controller/plan/releases/books.ts';
const PROOF = 'runtime/controller/plan/releases/proof.ts';
const HALTS = ['test/controller/plan/halts.test.ts'];
const ENTRIES = ['test/controller/plan/entries.test.ts'];
const KEPT = [...HALTS, ...ENTRIES, 'test/api/release/kept.test.ts'];
const SEEDS = ['test/controller/plan/seeds.test.ts'];
const OF_BLAME = ['test/controller/plan/blame.test.ts'];

/** Rules F2 to F4: what is remembered of a release, and what is risked on it. */
export const ledgerMutants: readonly Mutant[] = [
  ...mutantsOf('runtime/controller/plan/releases/entered.ts', ['test/controller/plan/entries.test.ts'], {
    'F3: takes the failure of an earlier attempt for that in which the node went': [
      'ledger.failures[uid]?.attempt === failure.attempt',
      'uid in ledger.failures',
    ],
  }),
  ...mutantsOf(ENTERED, KEPT, {
    'F3: lets an update come to rest before its failure is entered': [
      'return !end || permit?.ended !== undefined || this.#isKnown(node, end);',
      'return !end || node.name !== permit?.id;',
    ],
    'F3: lets an update come to rest while its release is still blamed for the node': [
      "if (health.soak === 'passed') return !this.#hasEntry(node, shadow?.spec.version ?? '');",
      "if (health.soak === 'passed') return true;",
    ],
    'F3: keeps the entry of a node that has long recovered': [
      'if (at <= now) kept = remove(kept, uid);',
      'if (at <= now) kept = { ...kept };',
    ],
    'F3: leaves a node whose failure no ledger takes as it is': [
      "const isToRest = phase.kind === 'failed' || health.agentSilent;",
      'const isToRest = health.agentSilent;',
    ],
    'F3: gives a permit back that alone knows of a failure': ['    if (ended) return [];\n', ''],
  }),
  ...mutantsOf(ENTERED, ['test/controller/workloads.test.ts'], {
    'F3: keeps the permit of a node whose pods are worse on its release for as long as they are': [
      "if (isFailedByPods(info) && health.soak === 'passed') return this.#isEntered(info);",
      '',
    ],
  }),
  ...mutantsOf(ENTERED, ['test/controller/plan/unasked-boots.test.ts'], {
    'F3: forgets what a node has failed on once somebody holds it': [
      '[badEndOf(info), statedBootOf(info)]',
      '[badEndOf(info)]',
    ],
  }),
  ...mutantsOf(GONE, KEPT, {
    'F3: takes a node that is gone, with all that could tell of it, for one that was not asked to reboot': [
      'if (rebootAskedAt !== undefined || !shadow?.status) return true;',
      'if (rebootAskedAt !== undefined || !shadow?.status) return rebootAskedAt !== undefined;',
    ],
  }),
  ...mutantsOf(GONE, ['test/api/release/two-leaders.test.ts'], {
    'F1: blames nobody for a machine that was asked for its reboot and is given up': [
      'if (!ended && !mayBeAsked(permit, lastOf(permit, snapshot), lastOfNode(uid, snapshot))) return undefined;',
      'if (!ended) return undefined;',
    ],
  }),
  ...mutantsOf(GONE, ENTRIES, {
    'F3: takes a node that is gone for one that was not asked to reboot, though its drain was over': [
      ': !node || isDrainOver(node);',
      ': !node;',
    ],
    'F3: takes a node that was in its drain when it was deleted for one that was asked to reboot': [
      ': !node || isDrainOver(node);',
      ': true;',
    ],
    'F1: blames nobody for a machine that is given up soon after its update': [
      '!last.ready && last.managed && !isInHands(last)',
      'last.ready && last.managed && !isInHands(last)',
    ],
  }),
  ...mutantsOf(TRIAL, OF_BLAME, {
    'F1: blames nobody for a node that goes not Ready again and again after its update': [
      'return node.ready ? node.readyFrom + Math.max(soakMs, soakTimeoutMs) : NEVER;',
      'return node.ready ? -Infinity : NEVER;',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/groups/dependencies.ts', ['test/controller/plan/dependencies.test.ts'], {
    'P5: lets a release go on that is halted where it was complete once': [
      '    if (releases.of(family, version).isHalted) return false;\n',
      '',
    ],
    'P5: passes over a policy where another claims all of its nodes': [
      'if (members > 0 || isContested || ',
      'if (members > 0 || ',
    ],
  }),
  ...mutantsOf('runtime/api/release/ledger.ts', KEPT, {
    'F3: enters again what a person has cleared': [
      '  if (ledger.cleared[uid]?.attempt === failure.attempt) return ledger;\n',
      '',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/gates.ts', KEPT, {
    'F4: starts nodes on a release of which nothing could be remembered': [
      'return stopping(release && ledgers.unkept(release));',
      'return stopping(release && ledgers.unkept(release) && undefined);',
    ],
  }),
  ...mutantsOf(BOOKS, HALTS, {
    'F4: forgets a failure with the policy that ruled its node': [
      'return ruler === name || !names.has(ruler);',
      'return ruler === name || names.size < 0;',
    ],
    'F2: ends a halt while it is not known whether people have ended it': [
      'counted: limit !== undefined && !isCurrent ? Math.max(own.length, limit) : own.length,',
      'counted: limit !== undefined && !isCurrent ? own.length : own.length,',
    ],
    'F2: believes a proof that is asked no more': [
      ' && before.met === saysOf(rules);',
      ' && before.met !== undefined;',
    ],
    'F4: counts a machine that is gone for ever': [
      "isProven && failure.reason === 'Gone' &&",
      "failure.reason === 'SoakFailed' &&",
    ],
  }),
  ...mutantsOf(PROOF, HALTS, {
    'F2: ends a halt when the fleet grows, or once the release is proven': [
      'return haltedBy ?? this.#limit(wasProven);',
      'return Math.max(haltedBy ?? 0, this.#limit(wasProven));',
    ],
    'F2: risks as many nodes under each policy as may fail over all of them': ['[over.place(as)]', '[]'],
  }),
  ...mutantsOf('runtime/controller/plan/groups/groups.ts', HALTS, {
    'F2: bounds who is at risk over those policies alone that were asked': ['    shareReleases(this.all);\n', ''],
  }),
  ...mutantsOf('runtime/api/release/ledger.ts', HALTS, {
    'F4: takes a permission for stronger than a halt': ["(['Halt', 'Allow'] as const)", "(['Allow', 'Halt'] as const)"],
  }),
  ...mutantsOf('runtime/controller/plan/groups/ledger.ts', ['test/controller/plan/ledger.test.ts'], {
    'F4: forgets a release that nodes have failed on': [
      "decision !== 'Automatic' || hasFailed(ledger);",
      "decision !== 'Automatic';",
    ],
  }),
  ...mutantsOf('runtime/controller/plan/releases/seeds.ts', SEEDS, {
    'F4: takes over nothing of what policies say of releases': [', ...rulings.all.flatMap(saidOf)', ''],
    'F4: enters what a person has cleared by another name of the attempt': [' || isCleared(ledger) ?', ' ?'],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/ends.ts', ENTRIES, {
    'F1: blames a release for what was prepared without a permit': [
      "last.reason !== 'PrepareFailed' || hasPermit ?",
      "last.reason !== 'Idle' ?",
    ],
    'F1: blames a release for whatever its agent says': [
      'if (!isOfThis || !isStatedBadEnd(last.reason)) return',
      'if (!isOfThis) return',
    ],
  }),
];
