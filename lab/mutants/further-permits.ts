import { type Mutant, mutantsOf } from './mutant.ts';

const GATES = 'runtime/controller/plan/gates/gates.ts';
const KINDS = 'runtime/controller/plan/nodes/kinds.ts';
const PLAN = 'test/controller/plan';
const GATE_TESTS = [`${PLAN}/second-gate.test.ts`, `${PLAN}/starts.test.ts`];
const TOLD = [`${PLAN}/told-to-drain.test.ts`];

/** Rules L: who may be updating. */
export const furtherPermits: readonly Mutant[] = [
  ...mutantsOf(GATES, GATE_TESTS, {
    'L8: drains what is staged though its release is halted by now': [
      "again: 'call-off', ask: halted",
      'again: undefined, ask: halted',
    ],
    'L8: drains what is staged under a pause': [
      'again: whilePaused, ask: nowPaused',
      'again: undefined, ask: nowPaused',
    ],
    'L8: starts what is held back': [
      "return info.node.held ? stoppedBy(found('Held', heldText(info.node.heldBy))) : PASS;",
      'return PASS;',
    ],
    'L8: drains what is staged on a node that is not Ready': [
      "again: 'wait', ask: notReady",
      'again: undefined, ask: notReady',
    ],
  }),
  ...mutantsOf(KINDS, [`${PLAN}/alike.test.ts`], {
    'L8: takes nodes that run different versions for alike': [
      'const versions = [status?.current_version, ',
      'const versions = [',
    ],
    'L8: takes a node that goes back for one like those that do not': ['offered, updatedFrom];', 'offered];'],
    'L8: takes nodes for alike to which releases are proven apart': [', per && labelOf(node.labels, per)]', ']'],
  }),
  ...mutantsOf('runtime/controller/plan/gates/fleet.ts', TOLD, {
    'L8: lets a node that is told to drain be drained under a pause': [
      "return isToldToDrain(phase) ? 'call-off' : 'wait';",
      "return 'wait';",
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/again.ts', TOLD, {
    'L8: calls nothing off once it is told to drain': [
      "phase.kind === 'staging' || !mayCallOff(phase)",
      "phase.kind !== 'staged'",
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/fleet.ts', GATE_TESTS, {
    'L8: starts under a pause': [
      "return snapshot.paused ? stoppedBy(found('Paused', pauseText(snapshot.pausedBy))) : PASS;",
      'return PASS;',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/recovery.ts', ['test/controller/plan/recovery.test.ts'], {
    'L3: keeps the permit of a node that is gone': [
      "  if (!holder) return { kind: 'free', shadow, nodeUid, because: 'node-gone' };\n",
      '  if (!holder) return undefined;\n',
    ],
  }),
  ...mutantsOf('runtime/controller/writing/executor.ts', ['test/controller/fencing.test.ts'], {
    'L4: does not doubt a permit while a write to its shadow has no answer': [
      "if (result === 'slow') this.#options.ports.permitLedger.doubt(target);",
      '',
    ],
  }),
  ...mutantsOf('runtime/controller/permits/ledger.ts', ['test/controller/permits/ledger.test.ts'], {
    'L5: swaps the list of permits without a look at who leads': [
      'if (lease?.spec?.holderIdentity !== this.#options.identity)',
      'if (!lease)',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/groups/busy.ts', ['test/controller/plan/starts.test.ts'], {
    'L6: does not count a node that became NotReady': [
      'if (!permit && !isOccupied(info)) return outageUntil;',
      'if (!permit && !isOccupied(info)) return undefined;',
    ],
  }),
  ...mutantsOf('runtime/controller/writing/slow-commands.ts', ['test/controller/refused-writes.test.ts'], {
    'L9: asks on for a node whose last write has no answer': [
      'return this.#slow.has(target) || this.#slow.size >= MAX_SLOW;',
      'return !target;',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/groups/busy.ts', ['test/controller/permits/ledger.test.ts'], {
    'L7: lets the list grow beyond what the API server takes': [
      'weight: weightOf(claimant) }),',
      'weight: Math.min(0, weightOf(claimant)) }),',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/facts/places.ts', ['test/controller/plan/places.test.ts'], {
    'L7: gives what is left of a place to each that asks for it': ['used: used + (isNew ? weight : 0)', 'used'],
  }),
  ...mutantsOf('runtime/controller/plan/gates/again.ts', ['test/controller/plan/second-gate.test.ts'], {
    'L8: goes on under another policy as under the one that its permit names': [
      'return before.name !== policy?.name || before.uid !== policy.uid;',
      'return before.name !== policy?.name && before.uid === policy?.uid;',
    ],
    'L8: keeps the place of a node whose drain is refused': ['refusal.since + STUCK_MS : NEVER', 'NEVER : NEVER'],
  }),
  ...mutantsOf('runtime/controller/plan/groups/busy.ts', ['test/controller/plan/second-gate.test.ts'], {
    'L8: disturbs all that has staged though a node was lost since': ['  if (until !== NEVER) return true;\n', ''],
  }),
  ...mutantsOf('runtime/controller/plan/facts/phase.ts', ['test/controller/plan/deadlines.test.ts'], {
    'L8: lets a dead machine that has disturbed nobody keep its place': [
      'staged: { ...inService, givesBackMs: OTHER_MS },',
      'staged: { ...inService, givesBackMs: Infinity },',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/nodes/health.ts', ['test/controller/plan/deadlines.test.ts'], {
    'L3: waits for ever for the agent of a node that was called off': [
      'const isGivenBack = isCalledOff(info.phase) && overdueFrom <= now;',
      'const isGivenBack = isCalledOff(info.phase) && overdueFrom < 0;',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/fleet.ts', ['test/controller/plan/unhealthy.test.ts'], {
    'L8: starts nodes however many are not Ready': ['return because ? stoppedBy(because) : PASS;', 'return PASS;'],
  }),
  ...mutantsOf('runtime/controller/seeing/rulers.ts', ['test/controller/rulers.test.ts'], {
    'L8: decides by a policy that rules for a moment': [
      'if (last === ruler.name) continue;',
      'if (last !== undefined) continue;',
    ],
  }),
  ...mutantsOf('runtime/kube/asking-again.ts', ['test/kube/asking-again.test.ts'], {
    'L5: leaves it to the next term to ask again for what an API server has turned away': [
      'return error instanceof BusyError || (',
      'return (',
    ],
    'L4: asks again for a write that may have been carried out': [
      '(error instanceof UnreachableError && error.isUnsent)',
      'error instanceof UnreachableError',
    ],
  }),
  ...mutantsOf(
    'runtime/controller/plan/groups/busy.ts',
    ['test/controller/plan/busy.test.ts', 'test/controller/plan/starts.test.ts'],
    {
      'L6: does not count the permit of a node that is not known': [
        'for (const { nodeUid } of permits) strays.add(nodeUid);',
        '',
      ],
    },
  ),
  ...mutantsOf('runtime/controller/plan/gates/again.ts', ['test/controller/plan/deadlines.test.ts'], {
    'L8: lets an update that has disturbed nobody keep its place': [
      'if (!isRefused(phase)) return health.overdueFrom;',
      'if (!isRefused(phase)) return NEVER;',
    ],
  }),
  ...mutantsOf('runtime/controller/plan/groups/busy.ts', ['test/controller/plan/unhealthy.test.ts'], {
    'L8: stops for reboots of its own as for an outage': ['wasReady(info) && !isUpdated;', 'wasReady(info);'],
  }),
  ...mutantsOf('runtime/controller/plan/gates/gates.ts', ['test/controller/other-operators.test.ts'], {
    'L8: starts beside another operator': ["again: 'wait', ask: besideOthers", "again: 'wait', ask: () => PASS"],
  }),
  ...mutantsOf('runtime/controller/plan/gates/gates.ts', ['test/controller/plan/starts.test.ts'], {
    'L8: starts nodes that are about to be removed': [
      "again: 'call-off', ask: leaving",
      "again: 'call-off', ask: () => PASS",
    ],
  }),
  ...mutantsOf('runtime/controller/plan/gates/pauses.ts', ['test/controller/plan/starts.test.ts'], {
    'L8: pauses by node, so that a newer release waits for the failure of another': [
      'isFailureOf(shadow, version) ? failedAt',
      'true ? failedAt',
    ],
  }),
  ...mutantsOf('runtime/controller/writing/write-queue.ts', ['test/controller/condition-writer.test.ts'], {
    'L1: writes a condition to a shadow that has just changed': [
      'known && known.version === version ? known',
      'known ? known',
    ],
  }),
];
