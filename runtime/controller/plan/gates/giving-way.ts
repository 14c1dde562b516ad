import { claimsOf, type Places } from '../groups/busy.ts';
import type { AssessedNode, Fleet } from '../nodes/health.ts';
import { STUCK_MS } from '../nodes/in-flight.ts';
import { giveBack } from '../facts/places.ts';
import { preflightFinding, type Stop } from '../facts/verdict.ts';
import { underWayOf, type World } from './asking.ts';
import { blockedUntil, isFoundFree, isKnownBlocked } from './blocked.ts';
import { firstOf, OTHERS, queueOf } from './gates.ts';
import { isPreparing } from './hints.ts';
import { proofClaims } from './others.ts';
import type { Starts } from './starts.ts';
import { candidateFor, isLast, isPrepared, isRuled, rankOf, type Ruled } from './turns.ts';

/** A node that gives its place to others, now or soon. */
export interface Way {
  readonly of: AssessedNode;
  /** What becomes of it; undefined where nothing does yet. */
  readonly stop: Stop | undefined;
  /** When time alone changes that. */
  readonly endsAt: number;
}

/** As starts were decided on. */
export type Started = Pick<Starts, 'kept' | 'given'> & { readonly places: Places };

/**
 * Which nodes give their place to others before they are disturbed (rule L8): each to one whose pods were looked at and can all go, that would start with
 * the place, and that comes first from then on (P6), so that the place does not go back and forth. While such a one prepares its update still, the node
 * waits, which costs nobody anything; for two minutes at most, as some pods move only once their node is drained.
 */
export function waysGiven(
  { unsettled, managed }: Pick<Fleet, 'unsettled' | 'managed'>,
  started: Started,
  world: World,
): readonly Way[] {
  const blocked = unsettled.flatMap((info) => blockedOne(info, world) ?? []);
  if (blocked.length === 0) return [];
  const heirs = new Set(managed.flatMap((info) => heirIn(info, started, world) ?? []));
  const asStarted = { ...world, ...started };
  return blocked.flatMap((of) => {
    const own = [...heirs].filter(({ node }) => takesPlaceOf(of, node, asStarted));
    const heir = own.find(({ isReady }) => isReady) ?? own[0];
    if (!heir) return [];
    heirs.delete(heir);
    return wayOf(of, heir, world.now) ?? [];
  });
}

function wayOf({ info, shadow }: Ruled, { isReady }: Heir, now: number): Way | undefined {
  const because = preflightFinding(shadow);
  if (isReady) return { of: info, stop: { kind: 'call-off', because }, endsAt: blockedUntil(shadow) };
  const endsAt = Math.min(shadow.stateSeenAt + STUCK_MS, blockedUntil(shadow));
  return endsAt > now
    ? { of: info, stop: { kind: 'wait', because: { ...because, until: endsAt } }, endsAt }
    : undefined;
}

/** In service, with its permit, and known to be blocked. What a person has asked for keeps its place. */
function blockedOne(info: AssessedNode, world: World): Ruled | undefined {
  const { node, shadow, phase, health } = info;
  if (phase.kind !== 'staged' || !node.managed || !node.ready || health.agentSilent) return undefined;
  const asking = shadow && !shadow.stale && !shadow.isAskedFor ? underWayOf(info, shadow, world) : undefined;
  return isRuled(asking) && isKnownBlocked(asking.shadow, world.now) ? asking : undefined;
}

/** A node that nothing but others keep from its start, and that has prepared its update and can be drained, or may soon have. */
interface Heir {
  readonly node: Ruled;
  readonly isReady: boolean;
}

function heirIn(info: AssessedNode, { kept }: Started, world: World): Heir | undefined {
  if (!info.shadow?.hint || queueOf(kept[info.at] ?? {}) === undefined) return undefined;
  const node = candidateFor(info, world);
  if (!node || info.shadow.hint.version !== node.version) return undefined;
  const isReady = isPrepared(node) && isFoundFree(node.shadow);
  return isReady || isPreparing(info, world.now) ? { node, isReady } : undefined;
}

/** It comes first then, and nothing keeps it from its start once the place is given back. */
function takesPlaceOf(of: Ruled, heir: Ruled, world: World): boolean {
  const { places, given, now } = world;
  if (heir.group !== of.group || isLast(heir, world) || rankOf(heir, now) >= rankOf(of, now)) return false;
  const left = giveBack(given, [...claimsOf(of, places), ...proofClaims(of, 'moving')]);
  return firstOf(heir, { ...world, given: left }, OTHERS).finding === undefined;
}
