import { budgetsIn, progressAt } from '../../../api/shadow/drain.ts';
import type { Crossed } from '../../../api/shadow/crossed.ts';
import { instantOf, MINUTE_MS, rfc3339 } from '../../../lib/clock.ts';
import type { World } from './asking.ts';
import { isLetThrough, isToldToDrain } from '../facts/phase.ts';
import { NEVER } from '../facts/requeue.ts';
import { compare, type Settings, type ShadowView } from '../facts/snapshot.ts';
import { type Finding, found, type Stop } from '../facts/verdict.ts';
import type { AssessedNode, Fleet } from '../nodes/health.ts';
import { keepsPods } from '../nodes/settle.ts';

/**
 * Drains that block each other: each has evicted pods that find no other place, and their budgets spare none of what the other still has to evict.
 * Nothing but the end of one of them ends that. It is a deadlock of what budgets allow, and is found as such: in the graph of who waits for whom.
 */

/** Drains of ours that wait for each other in a circle. */
export interface Crossing {
  /** The one whose drain is called off. */
  readonly younger: AssessedNode;
  /** From when on: none of them has come any further until then. */
  readonly due: number;
  readonly crossed: Crossed;
  /** The others. */
  readonly others: readonly AssessedNode[];
}

/** An update that has its node out of service. */
interface Drain {
  readonly info: AssessedNode;
  /** Budgets that its pods wait for. */
  readonly waits: ReadonlySet<string>;
  /** Budgets of the pods that it has evicted. They are back once its node is. */
  readonly holds: ReadonlySet<string>;
}

/** Those that wait for drains which wait themselves, and for nobody else. */
interface Deadlock {
  /** By drain, the budgets by which it does. */
  readonly waits: ReadonlyMap<Drain, ReadonlySet<string>>;
  /** By budget, whose waits that are, and for whom. */
  readonly waiters: ByBudget;
  readonly holders: ByBudget;
}

type ByBudget = ReadonlyMap<string, ReadonlySet<Drain>>;

type Known = Pick<World, 'settings' | 'now'> & { readonly snapshot: Pick<World['snapshot'], 'notCurrent'> };

/** Every circle, with the youngest of its drains that can be called off. */
export function crossingsOf(fleet: Pick<Fleet, 'all' | 'unsettled'>, known: Known): readonly Crossing[] {
  const { settings, now, snapshot } = known;
  // What the other one waits for is not asked again before the write.
  if (snapshot.notCurrent !== undefined) return [];
  const drains = fleet.unsettled.filter(keepsPods).map((info) => drainOf(info, now));
  const holders = byBudget(drains, ({ holds }) => holds);
  const crossings: Crossing[] = [];
  // With the one that is called off its circle is broken. There may be another one.
  const ended = new Set<Drain>();
  for (;;) {
    const deadlock = deadlockOf(drains, holders, ended);
    const younger = youngestIn(deadlock);
    if (!younger) return crossings;
    const { stalledAt, ...crossing } = crossingOf(younger, deadlock);
    const from = Math.max(stalledAt, lastCalledOff(fleet, deadlock));
    crossings.push({ ...crossing, due: from + stalledMs(settings) });
    ended.add(younger);
  }
}

function drainOf(info: AssessedNode, now: number): Drain {
  const { shadow } = info;
  const isEvicting = isStillEvicting(info);
  const isDrained = !isEvicting && isLetThrough(info.phase) && !isToldToDrain(info.phase);
  const budgets = shadow?.status?.displaced?.budgets ?? [];
  const held = budgets.filter(({ pods, left }) => isDrained || left.length < pods);
  return {
    info,
    waits: shadow && isEvicting ? refusedIn(info, shadow, now) : NONE,
    holds: new Set(held.map(({ name }) => name)),
  };
}

const NONE: ReadonlySet<string> = new Set();

function isStillEvicting({ node, shadow, phase }: AssessedNode): boolean {
  const goesDown = node.marks?.drained !== undefined || shadow?.status?.reboot?.requested_at != null;
  return phase.kind === 'draining' && !goesDown;
}

/** The budgets that refuse its pods, by a report that is recent enough. */
function refusedIn({ node }: AssessedNode, { stale, status }: ShadowView, now: number): ReadonlySet<string> {
  const drain = status?.drain;
  const isKnown = drain && !stale && progressAt(drain, node.marks, now).kind === 'known';
  return isKnown ? budgetsIn(drain.blocked_by) : NONE;
}

function byBudget(drains: Iterable<Drain>, of: (drain: Drain) => Iterable<string>): ByBudget {
  const all = new Map<string, Set<Drain>>();
  for (const drain of drains)
    for (const budget of of(drain)) {
      const those = all.get(budget);
      if (those) those.add(drain);
      else all.set(budget, new Set([drain]));
    }
  return all;
}

const both = <T>(some: Iterable<T>, others: ReadonlySet<T>): readonly T[] => [...some].filter((one) => others.has(one));

/**
 * Leaves out who waits for a budget that may spare a pod again by itself, until nobody is left out any more. That is a budget of whose evicted pods
 * some are those of a node that does not wait itself, e.g. of one that is rebooting, or of which no drain is known to have evicted any.
 * @param ended those that wait no more
 */
function deadlockOf(drains: readonly Drain[], holders: ByBudget, ended: ReadonlySet<Drain>): Deadlock {
  let stuck = drains.filter((drain) => drain.waits.size > 0 && !ended.has(drain));
  for (;;) {
    const before = new Set(stuck);
    const held = new Set([...holders].flatMap(([budget, those]) => (isWithin(those, before) ? budget : [])));
    const waits = new Map(stuck.map((drain) => [drain, waitsOf(drain, held, holders)]));
    stuck = stuck.filter((drain) => waits.get(drain)?.size !== 0);
    if (stuck.length === before.size)
      return { waits, waiters: byBudget(stuck, (one) => waits.get(one) ?? NONE), holders };
  }
}

const isWithin = (some: ReadonlySet<Drain>, all: ReadonlySet<Drain>): boolean => [...some].every((one) => all.has(one));

/** The budgets that another drain holds: one that it holds alone keeps it waiting for nobody. */
const waitsOf = (drain: Drain, held: ReadonlySet<string>, holders: ByBudget): ReadonlySet<string> =>
  new Set(both(drain.waits, held).filter((budget) => isHeldBesides(holders.get(budget), drain)));

const isHeldBesides = (those: ReadonlySet<Drain> | undefined, drain: Drain): boolean =>
  those !== undefined && those.size > Number(those.has(drain));

/** One direction of the graph: from a drain by its budgets to others. */
interface Way {
  readonly by: (drain: Drain) => Iterable<string>;
  readonly to: ByBudget;
}

const forward = ({ waits, holders }: Deadlock): Way => ({ by: (drain) => waits.get(drain) ?? NONE, to: holders });
const backward = ({ waiters }: Deadlock): Way => ({ by: ({ holds }) => holds, to: waiters });

/** All drains that can be reached. Each budget is walked once; when another drain comes to it, only the drain that came first can still be missing. */
function reachedFrom(start: Drain, { by, to }: Way): ReadonlySet<Drain> {
  const reached = new Set<Drain>();
  const first = new Map<string, Drain>();
  const ahead = [start];
  for (let next = ahead.pop(); next; next = ahead.pop()) {
    for (const budget of by(next)) {
      const those = to.get(budget) ?? new Set<Drain>();
      const came = first.get(budget);
      first.set(budget, came ?? next);
      for (const other of came ? both([came], those) : those) {
        if (other === next || reached.has(other)) continue;
        reached.add(other);
        ahead.push(other);
      }
    }
  }
  return reached;
}

function youngestIn(deadlock: Deadlock): Drain | undefined {
  const able = [...deadlock.waits.keys()].filter(({ info }) => mayBeCalledOff(info)).toSorted(youngestFirst);
  return able.find((drain) => reachedFrom(drain, forward(deadlock)).has(drain));
}

/** A permit without a time was taken by an earlier version. */
const sinceOf = ({ info: { permit } }: Drain): number => permit?.since ?? -Infinity;
const youngestFirst = (a: Drain, b: Drain): number =>
  compare(sinceOf(b), sinceOf(a)) || compare(b.info.node.name, a.info.node.name);

/** Whether calling it off gives its pods back: its agent ends the drain when it is told to, and the node then takes pods again. */
function mayBeCalledOff({ node, permit, phase, health }: AssessedNode): boolean {
  const isAble = node.managed && permit !== undefined && !health.agentSilent;
  const takesPods = node.ready && !node.held && node.leaving !== true && node.marks?.owns.includes('cordon') === true;
  return isAble && takesPods && phase.kind === 'draining' && phase.isUnasked;
}

/** A drain without progress for so long is stuck. Shorter would be too early: evicted pods take a while to come up elsewhere. */
const STALLED_MS = 5 * MINUTE_MS;

/** Where drains have less time, a quarter of that: what is called off at its deadline has gained nothing. */
const stalledMs = ({ drainTimeoutMs }: Pick<Settings, 'drainTimeoutMs'>): number =>
  drainTimeoutMs === 0 ? STALLED_MS : Math.min(STALLED_MS, drainTimeoutMs / 4);

function crossingOf(younger: Drain, deadlock: Deadlock): Omit<Crossing, 'due'> & { readonly stalledAt: number } {
  const circle = both(reachedFrom(younger, forward(deadlock)), reachedFrom(younger, backward(deadlock)));
  const stalledAt = Math.max(...circle.map(({ info }) => info.shadow?.stalledSince ?? NEVER));
  const others = circle.filter((drain) => drain !== younger);
  const crossed = crossedIn(younger, others, deadlock);
  return {
    younger: younger.info,
    stalledAt,
    crossed,
    others: others.map(({ info }) => info),
  };
}

/** When a drain was last called off for one of these. Until its pods are up again, the others need time to use what that frees. */
function lastCalledOff({ all }: Pick<Fleet, 'all'>, { waiters }: Deadlock): number {
  let last = -Infinity;
  for (const { shadow } of all)
    if (shadow?.crossed && waiters.has(shadow.crossed.budgets[1])) last = Math.max(last, calledOffAt(shadow));
  return last;
}

/** When its drain was called off for another one, not later than spec was last seen to change. */
export const calledOffAt = ({ crossed, stepBeganAt }: Pick<ShadowView, 'crossed' | 'stepBeganAt'>): number =>
  Math.min(instantOf(crossed?.at) ?? NEVER, stepBeganAt);

function crossedIn(younger: Drain, others: readonly Drain[], { waits }: Deadlock): Crossed {
  const waitsFor = (by: Drain, of: Drain): readonly string[] => both(waits.get(by) ?? NONE, of.holds);
  // Of those whose pods it needs, the oldest goes on in any case.
  const other = others.toSorted((a, b) => youngestFirst(b, a)).find((one) => waitsFor(younger, one).length > 0);
  const [here] = other ? waitsFor(younger, other) : [];
  const [there] = others.flatMap((one) => waitsFor(one, younger));
  if (!other || here === undefined || there === undefined) throw new TypeError('expected drains in a circle');
  const times = (younger.info.shadow?.crossed?.times ?? 0) + 1;
  const { node, permit } = other.info;
  return { node: node.name, attempt: permit?.id ?? '', budgets: [here, there], times };
}

const blocking = (node: string, budgets: Crossed['budgets']): string =>
  `its drain and that of ${node} block each other (PodDisruptionBudget ${[...new Set(budgets)].join(', ')})`;

/** What is said of the one that is called off, before and after. */
export const crossedFinding = ({ node, budgets }: Crossed, until?: number): Finding =>
  found('BudgetsCrossed', `${blocking(node, budgets)}; it is the younger, and starts anew once ${node} is done`, until);

/** What becomes of each of them, by UID of its node. */
export function crossingStops(
  { younger, due, crossed, others }: Crossing,
  now: number,
): readonly (readonly [string, Stop])[] {
  const [here, there] = crossed.budgets;
  const { name, uid } = younger.node;
  const isDue = due <= now;
  const because = crossedFinding(crossed, isDue ? undefined : due);
  const own: Stop = isDue
    ? { kind: 'call-off', because, crossed: { ...crossed, at: rfc3339(now) } }
    : { kind: 'wait', because };
  const said = found('BudgetsCrossed', `${blocking(name, [there, here])}; ${name}, the younger, is called off`, due);
  return [[uid, own], ...others.map(({ node }) => [node.uid, { kind: 'wait', because: said }] as const)];
}
