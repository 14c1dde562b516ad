import { budgetsIn, progressAt } from '../../../api/shadow/drain.ts';
import type { Crossed } from '../../../api/shadow/crossed.ts';
import { MINUTE_MS } from '../../../lib/clock.ts';
import type { World } from './asking.ts';
import { isLetThrough, isToldToDrain } from '../facts/phase.ts';
import { NEVER } from '../facts/requeue.ts';
import { compare, type Settings, type ShadowView } from '../facts/snapshot.ts';
import { type Finding, found, type Stop } from '../facts/verdict.ts';
import type { AssessedNode } from '../nodes/health.ts';

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

interface Wait {
  readonly by: Drain;
  readonly for: Drain;
  readonly budget: string;
}

/** By drain, for whom it waits. */
type Waits = ReadonlyMap<Drain, readonly Wait[]>;

type Known = Pick<World, 'settings' | 'now'> & { readonly snapshot: Pick<World['snapshot'], 'notCurrent'> };

/** Every circle, with the youngest of its drains that can be called off. */
export function crossingsOf(unsettled: readonly AssessedNode[], known: Known): readonly Crossing[] {
  const { settings, now, snapshot } = known;
  // What the other one waits for is not asked again before the write.
  if (snapshot.notCurrent !== undefined) return [];
  const drains = unsettled.filter(({ phase }) => isLetThrough(phase)).map((info) => drainOf(info, now));
  const crossings: Crossing[] = [];
  // With the one that is called off its circle is broken. There may be another one.
  const ended = new Set<Drain>();
  for (;;) {
    const waits = waitsOf(drains, ended);
    const younger = youngestIn(waits);
    if (!younger) return crossings;
    crossings.push(crossingOf(younger, waits, settings));
    ended.add(younger);
  }
}

function drainOf(info: AssessedNode, now: number): Drain {
  const { shadow } = info;
  const isEvicting = isStillEvicting(info);
  const isDrained = !isEvicting && !isToldToDrain(info.phase);
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

/** What refuses its pods, where that is known to be so now. */
function refusedIn({ node }: AssessedNode, { stale, status }: ShadowView, now: number): ReadonlySet<string> {
  const drain = status?.drain;
  const isKnown = drain && !stale && progressAt(drain, node.marks, now).kind === 'known';
  return isKnown ? budgetsIn(drain.blocked_by) : NONE;
}

/**
 * Who waits for drains that wait themselves, and for nobody else: a budget that another node has pods of, which comes back from its reboot, or of which
 * nobody is known to have any, may spare one again by itself.
 */
function waitsOf(drains: readonly Drain[], ended: ReadonlySet<Drain>): Waits {
  const blocked = drains.filter((drain) => drain.waits.size > 0 && !ended.has(drain));
  const holders = (budget: string, of: Drain): readonly Drain[] =>
    drains.filter((drain) => drain !== of && drain.holds.has(budget));
  let waits: Waits = new Map(blocked.map((drain) => [drain, []]));
  for (;;) {
    const before = waits;
    const next = [...before.keys()].flatMap((drain): [Drain, readonly Wait[]][] => {
      const own = [...drain.waits].flatMap((budget) => {
        const others = holders(budget, drain);
        return others.every((other) => before.has(other))
          ? others.map((other) => ({ by: drain, for: other, budget }))
          : [];
      });
      return own.length > 0 ? [[drain, own]] : [];
    });
    waits = new Map(next);
    if (waits.size === before.size) return waits;
  }
}

/** Those that the drain waits for, however far around. */
function reachedFrom(drain: Drain, waits: Waits): ReadonlySet<Drain> {
  const reached = new Set<Drain>();
  const ahead = [drain];
  for (let next = ahead.pop(); next; next = ahead.pop()) {
    for (const { for: other } of waits.get(next) ?? []) {
      if (!reached.has(other)) ahead.push(other);
      reached.add(other);
    }
  }
  return reached;
}

const isInCircle = (drain: Drain, waits: Waits): boolean => reachedFrom(drain, waits).has(drain);

function youngestIn(waits: Waits): Drain | undefined {
  const able = [...waits.keys()].filter(({ info }) => mayBeCalledOff(info)).toSorted(youngestFirst);
  return able.find((drain) => isInCircle(drain, waits));
}

/** A permit without a time was taken by an earlier version. */
const sinceOf = ({ info: { permit } }: Drain): number => permit?.since ?? -Infinity;
const youngestFirst = (a: Drain, b: Drain): number =>
  compare(sinceOf(b), sinceOf(a)) || compare(b.info.node.name, a.info.node.name);

/** Its agent ends its drain when it is told to, and its pods come back then: the node takes pods again. */
function mayBeCalledOff({ node, permit, phase, health }: AssessedNode): boolean {
  const isAble = node.managed && permit !== undefined && !health.agentSilent;
  const takesPods = node.ready && !node.held && node.leaving !== true && node.marks?.owns.includes('cordon') === true;
  return isAble && takesPods && phase.kind === 'draining' && phase.isUnasked;
}

/** A drain that makes no progress for so long makes none. Pods that come up elsewhere take a while, too. */
const STALLED_MS = 5 * MINUTE_MS;

/** Where drains have less time, a quarter of that: what is called off at its deadline has gained nothing. */
const stalledMs = ({ drainTimeoutMs }: Pick<Settings, 'drainTimeoutMs'>): number =>
  drainTimeoutMs === 0 ? STALLED_MS : Math.min(STALLED_MS, drainTimeoutMs / 4);

function crossingOf(younger: Drain, waits: Waits, settings: Settings): Crossing {
  const reached = [...reachedFrom(younger, waits)];
  const circle = reached.filter((drain) => reachedFrom(drain, waits).has(younger));
  const others = circle.filter((drain) => drain !== younger).map(({ info }) => info);
  const stalledAt = Math.max(...circle.map(({ info }) => info.shadow?.stalledSince ?? NEVER));
  return {
    younger: younger.info,
    due: stalledAt + stalledMs(settings),
    crossed: crossedIn(younger, circle, waits),
    others,
  };
}

function crossedIn(younger: Drain, circle: readonly Drain[], waits: Waits): Crossed {
  const within = circle.flatMap((drain) => waits.get(drain) ?? []).filter(({ for: other }) => circle.includes(other));
  // Of those whose pods it needs, the oldest goes on in any case.
  const [here] = within.filter(({ by }) => by === younger).toSorted(byAge);
  const there = within.find(({ for: other }) => other === younger);
  if (!here || !there) throw new TypeError('expected drains that wait for each other in a circle');
  const { node, permit } = here.for.info;
  const { times = 0 } = younger.info.shadow?.crossed ?? {};
  return { node: node.name, attempt: permit?.id ?? '', budgets: [here.budget, there.budget], times: times + 1 };
}

const byAge = (a: Wait, b: Wait): number => youngestFirst(b.for, a.for) || compare(a.budget, b.budget);

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
  const own: Stop = isDue ? { kind: 'call-off', because, crossed } : { kind: 'wait', because };
  const said = found('BudgetsCrossed', `${blocking(name, [there, here])}; ${name}, the younger, is called off`, due);
  return [[uid, own], ...others.map(({ node }) => [node.uid, { kind: 'wait', because: said }] as const)];
}
