import { arrivesUntil, bearsArriving, isArriving } from '../facts/arriving.ts';
import { mayCallOff } from '../facts/phase.ts';
import { type GateResult, NEVER, nextAfter } from '../facts/requeue.ts';
import { RULED_FOR_MS } from '../facts/rulings.ts';
import type { ShadowView } from '../facts/snapshot.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { isKnown, underWayOf, type World } from './asking.ts';
import { firstOf, type Found, GATES, mayPrepare, STILL } from './gates.ts';
import type { Starts } from './starts.ts';

interface Arrivals {
  /** Names of the nodes whose taint `arriving` is to go (rule P16). */
  readonly over: readonly string[];
  readonly changesAt: number;
}

/** An agent looks for updates within seconds of its first status. */
const FIRST_LOOK_MS = 10_000;

/** Ten minutes after its Node was made an arrival is over, whatever is known. */
export function arrivalsOf(all: readonly AssessedNode[], starts: Starts, world: World): Arrivals {
  const { settings, now } = world;
  const arriving = all.filter(({ node }) => bearsArriving(node, settings));
  const ends = arriving.map((info) => {
    const latest = arrivesUntil(info.node);
    return { name: info.node.name, at: isKnown(world) ? Math.min(latest, endOf(info, starts, world)) : latest };
  });
  return {
    over: ends.flatMap(({ name, at }) => (at <= now ? name : [])),
    changesAt: nextAfter(
      now,
      ends.map(({ at }) => at),
    ),
  };
}

/** The nodes that start and that budgets count. */
export const countedIn = ({ starting }: Starts, { settings, now }: World): readonly AssessedNode[] =>
  [...starting.keys()].filter(({ node }) => !isArriving(node, settings, now));

/** When nothing is to come of it any more: an instant that is past where that is so. NEVER while its update runs, or its agent has said nothing yet. */
function endOf(info: AssessedNode, starts: Starts, world: World): number {
  const { node, shadow, phase, offered } = info;
  if (!node.managed) return node.createdAt + RULED_FOR_MS;
  if (node.marks || !shadow?.status) return NEVER;
  if (mayCallOff(phase)) return byGate(underWay(info, shadow, world), world.now);
  if (phase.kind !== 'resting') return NEVER;
  if (offered === undefined) return shadow.stateSeenAt + FIRST_LOOK_MS;
  const kept = starts.kept[info.at];
  return kept && closesArrival(kept) ? world.now : NEVER;
}

const byGate = ({ finding, changesAt }: GateResult, now: number): number => (finding ? now : changesAt);

/** What is waited for in the second time does not end it. */
function underWay(info: AssessedNode, shadow: ShadowView, world: World): GateResult {
  const found = firstOf(underWayOf(info, shadow, world), world, STILL);
  return closesArrival(found) ? found : { finding: undefined, changesAt: found.changesAt };
}

/** It is asked no more before its time: a machine that has just joined takes pods instead. Its readiness, and a new ruler, it waits for. */
function closesArrival({ gate }: Pick<Found, 'gate'>): boolean {
  if (gate === undefined) return false;
  const { name, of, again } = GATES[gate] ?? {};
  const isWaitedFor = again === 'unknown' || (again === 'wait' && of !== 'fleet');
  return name === 'proof' || (!mayPrepare({ gate }) && !isWaitedFor);
}
