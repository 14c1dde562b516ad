import { notReadyText } from '../facts/node.ts';
import { byWhom, heldText } from '../../../api/shadow/asked.ts';
import type { Again, Asking, World } from './asking.ts';
import { unaskedBootOf } from '../nodes/blame.ts';
import { checkedLately, onceChecked, uncheckedBefore } from './checks.ts';
import {
  anotherBegins,
  awaiting,
  fleetFull,
  listFull,
  otherZones,
  policyFull,
  unproven,
  unprovenBefore,
  widening,
  wideningBefore,
} from './others.ts';
import { type GateResult, PASS, stoppedBy } from '../facts/requeue.ts';
import { RULED_FOR_MS, ruledFrom } from '../facts/rulings.ts';
import { atTime, type Finding, found } from '../facts/verdict.ts';
import {
  besideOthers,
  notCurrent,
  nowPaused,
  unhealthy,
  unreadable,
  whilePaused,
  withoutControlPlane,
} from './fleet.ts';
import { forPods, onlyProven } from './joined.ts';
import { byWindow, isOneWindow } from './windows.ts';
import { backingOff, crossedLately, refusedLately, updatedLately, wasCalledOff } from './pauses.ts';
import { asOrdered, isBack, orderedOtherwise, pinned, tooYoung, unapproved, wouldLeave } from './versions.ts';
import { haltedBecause } from '../releases/halted.ts';
import { refused } from './withheld.ts';

export interface Gate {
  readonly name: string;
  /**
   * Whom the answer is about. `kind`: a node, but the same for all settled ones of a kind of which nothing else is known (`isAlone`). A `member` is a node
   * by what its policy says; it and `node` are asked of each, which is always right.
   */
  readonly of: 'fleet' | 'policy' | 'release' | 'kind' | 'member' | 'node';
  /** Under these rules it is of the kind all the same. */
  readonly isOfKind?: (one: Asking) => boolean;
  /** Asked a second time, before the node is disturbed (rule L8), and what then becomes of it; undefined = asked once. */
  readonly again: Again | undefined | ((asking: Asking) => Again);
  readonly ask: (asking: Asking, world: World) => GateResult;
  /** Asked the second time instead. */
  readonly askAgain?: Gate['ask'];
  /** Asked instead of a release that people have expedited, both times. */
  readonly expedited?: Gate['ask'];
  /** A machine that has just joined passes. Once pods may have come, this calls it off where another would not wait for it. */
  readonly forPods?: true;
  /** What other nodes do keeps it waiting: those of its policy, or of all. */
  readonly queue?: 'policy' | 'all';
}

/** What time decides for all nodes of its policy alike. */
const byTime =
  (which: 'freeze' | 'freezeForAll' | 'pause'): Gate['ask'] =>
  ({ group }) =>
    group?.[which] ?? PASS;

/** What keeps a node from preparing its update too: what people have decided comes first, then the node, then time. */
const OF_HINTS: readonly Gate[] = [
  { name: 'held', of: 'kind', again: 'call-off', ask: held },
  { name: 'leaving', of: 'kind', again: 'call-off', ask: leaving },
  { name: 'current', of: 'fleet', again: 'unknown', ask: notCurrent },
  { name: 'paused', of: 'fleet', again: whilePaused, ask: nowPaused },
  { name: 'policies', of: 'fleet', again: 'unknown', ask: unreadable },
  { name: 'other operators', of: 'fleet', again: 'wait', ask: besideOthers },
  { name: 'host order', of: 'kind', again: asOrdered, ask: orderedOtherwise },
  { name: 'policy', of: 'policy', again: 'call-off', ask: byPolicy },
  { name: 'frozen', of: 'policy', again: 'call-off', ask: byTime('freeze'), expedited: byTime('freezeForAll') },
  { name: 'version', of: 'kind', again: 'call-off', ask: pinned },
  { name: 'ready', of: 'kind', again: 'wait', ask: notReady },
  { name: 'ledger', of: 'release', again: undefined, ask: unkept },
  { name: 'halted', of: 'release', again: 'call-off', ask: halted },
  { name: 'age', of: 'kind', again: 'call-off', ask: tooYoung, expedited: () => PASS },
  { name: 'unasked boot', of: 'kind', again: undefined, ask: leftUnasked },
  { name: 'backoff', of: 'kind', again: undefined, ask: backingOff },
  { name: 'refused drain', of: 'kind', again: undefined, ask: refusedLately },
  { name: 'crossed', of: 'kind', again: undefined, ask: crossedLately },
  {
    name: 'failed check',
    of: 'node',
    again: undefined,
    ask: checkedLately,
    isOfKind: ({ group }) => group?.rules.checks.before.length === 0,
  },
  {
    name: 'interval',
    of: 'member',
    again: undefined,
    ask: updatedLately,
    expedited: () => PASS,
    isOfKind: ({ group }) => (group?.rules.minIntervalMs ?? 0) === 0,
  },
  { name: 'window', of: 'member', again: undefined, ask: byWindow, expedited: () => PASS, isOfKind: isOneWindow },
  { name: 'ruler', of: 'kind', again: 'wait', ask: newlyRuled },
  { name: 'after', of: 'release', again: undefined, ask: awaiting },
  { name: 'approval', of: 'node', again: 'call-off', ask: unapproved },
  { name: 'unhealthy', of: 'fleet', again: 'call-off', ask: unhealthy },
];

/** What lets it prepare its update meanwhile, because it is mostly others that are waited for. */
const OF_STARTS: readonly Gate[] = [
  { name: 'control plane', of: 'fleet', again: 'wait', ask: withoutControlPlane },
  { name: 'writes', of: 'node', again: undefined, ask: writeRefused },
  { name: 'clean', of: 'node', again: undefined, ask: uncleaned },
  {
    name: 'proof',
    of: 'release',
    again: 'call-off',
    ask: onlyProven(unproven),
    askAgain: onlyProven(unprovenBefore),
    queue: 'policy',
  },
  { name: 'widening', of: 'release', again: 'wait', ...forPods(widening, wideningBefore), queue: 'policy' },
  { name: 'zone', of: 'node', again: 'wait', ...forPods(otherZones), queue: 'policy' },
  // It comes and goes with each update, and what is asked before it stays: the condition of a node that waits for that is left alone.
  { name: 'pause between', of: 'policy', again: undefined, ...forPods(byTime('pause')), expedited: () => PASS },
  { name: 'budget', of: 'node', again: 'wait', ...forPods(policyFull), queue: 'policy' },
  { name: 'budget over all', of: 'node', again: 'wait', ...forPods(fleetFull), queue: 'all' },
  { name: 'check', of: 'node', again: onceChecked, ask: () => PASS, askAgain: uncheckedBefore },
  { name: 'room', of: 'node', again: 'wait', ask: () => PASS, askAgain: anotherBegins },
  { name: 'permit list', of: 'node', again: undefined, ask: listFull, queue: 'all' },
];

/**
 * What may keep a node from its update, in order: the first finding is its verdict. What is for other nodes comes last, so that a verdict which names
 * them means that only these are waited for.
 */
export const GATES: readonly Gate[] = [...OF_HINTS, ...OF_STARTS];

/** What is to be asked of a node, and which gate of the list asks it. */
export interface Question {
  readonly gate: number;
  readonly ask: Gate['ask'];
}

const at = (name: string): number => GATES.findIndex((gate) => gate.name === name);
/** From here on, the node waits for nothing but a place that others take. */
const NEXT = at('budget');
/** From here on, the size of its own permit decides. */
const LIST = at('permit list');

/** What a gate asks the first time. */
const askOf = ({ ask, expedited }: Gate): Gate['ask'] =>
  expedited ? (asking, world) => (asking.release?.book.people.isExpedited ? expedited : ask)(asking, world) : ask;

/** What it asks before the node is disturbed. */
export const askAgainOf = (gate: Gate): Gate['ask'] => gate.askAgain ?? askOf(gate);

const ALL: readonly Question[] = GATES.map((gate, index) => ({ gate: index, ask: askOf(gate) }));
/** What it is asked whatever others do. */
export const OWN = ALL.slice(0, at('after'));
/** What other nodes do comes in here. A start never opens these gates: a node that they stop before it is stopped after it too. */
export const OTHERS = ALL.slice(at('after'));

/** What people and policies still have to say of an update that has begun and disturbed nothing yet. */
export const STILL = ALL.slice(0, OF_HINTS.length).filter(({ gate }) => GATES[gate]?.again !== undefined);

/** What the gates say of a node. */
export interface Found extends GateResult {
  /** Which of them has stopped it, by its place in the list; undefined where none has. */
  readonly gate?: number;
}

/** The first finding. It changes when time changes it, or what an earlier gate has said. */
export function firstOf(asking: Asking, world: World, questions = ALL): Found {
  let soonest = PASS;
  for (const { gate, ask } of questions) {
    const result = ask(asking, world);
    if (result.changesAt < soonest.changesAt) soonest = result;
    if (result.finding) return { gate, finding: result.finding, changesAt: soonest.changesAt };
  }
  return soonest;
}

/** Everything that keeps the node from its update. */
export const findingsOf = (asking: Asking, world: World): readonly Finding[] =>
  ALL.flatMap(({ ask }) => ask(asking, world).finding ?? []);

/** Which other nodes keep it waiting. */
export const queueOf = ({ gate = -1 }: Pick<Found, 'gate'>): Gate['queue'] => GATES[gate]?.queue;
export const mayPrepare = ({ gate = -1 }: Pick<Found, 'gate'>): boolean => gate >= OF_HINTS.length;
export const isNext = ({ gate = -1 }: Pick<Found, 'gate'>): boolean => gate >= NEXT;
/** It keeps all settled nodes of the same release and zone alike. */
export const isOfAll = ({ gate = LIST }: Pick<Found, 'gate'>): boolean => gate < LIST;

const LEAVING = stoppedBy(found('Leaving', 'the node is being removed from the cluster'));
/** The node does not wait for a permit of others: the controller has to clean up after its last update first. */
const CLEANING_UP = stoppedBy(found('WaitingForSlot', 'what is left of its last update is being settled'));

const stopping = (because: Finding | undefined): GateResult => (because ? stoppedBy(because) : PASS);

function held({ info }: Asking): GateResult {
  return info.node.held ? stoppedBy(found('Held', heldText(info.node.heldBy))) : PASS;
}

/** An update of a node that is about to go would disturb its pods for nothing, and hold up whoever removes it. */
function leaving({ info }: Asking): GateResult {
  return info.node.leaving === true ? LEAVING : PASS;
}

function byPolicy({ info: { ruling } }: Asking): GateResult {
  const { against, rules } = ruling;
  return stopping(
    against ?? (rules.paused ? found('Paused', `policy ${rules.name} is paused${byWhom(rules.pausedBy)}`) : undefined),
  );
}

function notReady(asking: Asking): GateResult {
  const { node } = asking.info;
  return node.ready || isBack(asking) ? PASS : stoppedBy(found('NodeNotReady', `the node is ${notReadyText(node)}`));
}

function unkept({ release }: Asking, { ledgers }: World): GateResult {
  return stopping(release && ledgers.unkept(release));
}

function halted(asking: Asking): GateResult {
  const { release, isRetry } = asking;
  if (!release?.isHalted || (isRetry && !wouldLeave(asking))) return PASS;
  return stoppedBy(found('RolloutHalted', haltedBecause(release.proof.whyHalted, release.version)));
}

/** It has left the release that it is offered, and would leave it again. */
function leftUnasked({ info, version }: Asking): GateResult {
  const boot = unaskedBootOf(info);
  return boot && boot.version === version ? stoppedBy(found(boot.reason, boot.message)) : PASS;
}

function newlyRuled({ info: { node }, group }: Asking, { snapshot, now }: World): GateResult {
  const until = ruledFrom(snapshot, node.uid);
  if (until <= now) return PASS;
  const name = group?.rules.name;
  const ruler = name === undefined ? "the controller's variables" : `policy ${name}`;
  const since = until - RULED_FOR_MS;
  return stoppedBy({ ...found('NewlyRuled', `ruled by ${ruler} since ${atTime(since)} only`, until), since });
}

function writeRefused({ info }: Asking, { withheld }: World): GateResult {
  const refusal = withheld.refusalOf('start', info.node.shadowName);
  return refusal ? { finding: refused(refusal), changesAt: refusal.retryAt } : PASS;
}

/**
 * Nothing may be left of its last update: its end, which its permit still has to tell, or its last start, if that is in doubt. One that was called off
 * gives its permit back first, or it would start with it again before those that it comes after.
 */
function uncleaned({ info, shadow, version }: Asking, { entered }: World): GateResult {
  const { permit } = info;
  const unwritten = permit && entered.unwritten(info);
  if (unwritten) return stoppedBy(refused(unwritten));
  const isLeft = permit && (permit.writes === 'unknown' || wasCalledOff(shadow, version));
  return shadow.stale || info.node.marks || isLeft ? CLEANING_UP : PASS;
}
