import { labelOf } from '../../../lib/selector.ts';
import type { UpdatePolicy } from '../../../api/policy/policy.ts';
import { NEVER } from './requeue.ts';
import { compare, type NodeView } from './snapshot.ts';

/**
 * Everything that only so many may take at once, as a value: the budget over all, that of a policy, its zones, the proof of a release, the room on the
 * Lease. Giving a place changes none of them: what a plan gives stands beside them in `Given`.
 */
export interface Place {
  readonly limit: number;
  /** By key (a node's UID, or the name of a zone), until when it takes a part: NEVER = until an update is over. */
  readonly taken: ReadonlyMap<string, number>;
  /** Parts that are taken in all. */
  readonly used: number;
  /** When time alone gives parts back, the first one first. */
  readonly ends: readonly number[];
}

/** A part of a place that a node asks for. */
export interface Claim {
  readonly place: Place;
  readonly key: string;
  /** Parts. @default 1 */
  readonly weight?: number;
  /** Several nodes have this key: those after the first take nothing more. */
  readonly shared?: boolean;
}

interface Part {
  readonly used: number;
  /** Keys among those given that a later claim, or an end, may be about. */
  readonly keys: readonly string[];
}

/** What was given on top of what stood: small, so that a copy costs nothing. */
export type Given = ReadonlyMap<Place, Part>;

export const NONE_GIVEN: ReadonlyMap<Place, Part> = new Map();
const NO_PART: Part = { used: 0, keys: [] };

/** @param taken by key, until when */
export function placeOf(limit: number, taken: Place['taken'], used = taken.size): Place {
  return { limit, taken, used, ends: endsOf(taken) };
}

function endsOf(taken: Place['taken'], without: readonly string[] = []): readonly number[] {
  const ends = [...taken].flatMap(([key, until]) => (until === NEVER || without.includes(key) ? [] : until));
  return ends.toSorted((a, b) => a - b);
}

/** How many parts must come back before the claim can be met; 0 or less where it can be. Beyond the limit, who has its part waits too. */
export function shortFor({ place, key, weight = 1 }: Claim, given: Given): number {
  const { used, keys } = given.get(place) ?? NO_PART;
  const isHeld = place.taken.has(key) || keys.includes(key);
  return place.used + used + (isHeld ? 0 : weight) - place.limit;
}

/** With these claims met, whether or not there was room. */
export function give(given: Given, claims: readonly Claim[]): Given {
  const next = new Map(given);
  for (const { place, key, weight = 1, shared = false } of claims) {
    if (place.limit === Infinity) continue;
    const { used, keys } = next.get(place) ?? NO_PART;
    const isTaken = place.taken.has(key);
    const isNew = !isTaken && !keys.includes(key);
    next.set(place, { used: used + (isNew ? weight : 0), keys: shared || isTaken ? [...keys, key] : keys });
  }
  return next;
}

/** Without what is taken for these. A part that several may share stays: others of them may have it, too. */
export function giveBack(given: Given, claims: readonly Claim[]): Given {
  const next = new Map(given);
  for (const { place, key, shared = false } of claims) {
    if (shared || !place.taken.has(key)) continue;
    const { used, keys } = next.get(place) ?? NO_PART;
    next.set(place, { used: used - 1, keys });
  }
  return next;
}

/** When time alone has given back what the claim is short of. A part that it has itself helps it no more once it is gone. */
export function freedAt(claim: Claim, given: Given): number {
  const { keys } = given.get(claim.place) ?? NO_PART;
  return endsWithout(claim.place, [...keys, claim.key])[shortFor(claim, given) - 1] ?? NEVER;
}

/** No running update will give anything back. */
export function isHeldByTime(place: Place, given: Given): boolean {
  const { used, keys } = given.get(place) ?? NO_PART;
  return endsWithout(place, keys).length === place.used + used;
}

/** A part that time would give back stays taken where it was given to an update meanwhile. */
function endsWithout(place: Place, keys: readonly string[]): readonly number[] {
  const isOne = keys.some((key) => (place.taken.get(key) ?? NEVER) !== NEVER);
  return isOne ? endsOf(place.taken, keys) : place.ends;
}

/** Which other key takes its part for longest, the first by name of several; undefined where none does. */
export function longestHolder({ place, key }: Claim, given: Given): string {
  const keys = given.get(place)?.keys ?? [];
  const held = new Map([...place.taken, ...keys.map((one) => [one, NEVER] as const)]);
  held.delete(key);
  const [[longest] = ['']] = [...held].toSorted(([a, until], [b, other]) => compare(other, until) || compare(a, b));
  return longest;
}

/** Stands for the nodes without the label: no label's value looks like this. */
const NO_ZONE = '(none)';

type Zoned = Pick<UpdatePolicy, 'zones'>;

export const zoneOf = ({ labels }: Pick<NodeView, 'labels'>, { zones }: Zoned): string =>
  labelOf(labels, zones.key) ?? NO_ZONE;

export const zoneText = (zone: string, { zones }: Zoned): string =>
  zone === NO_ZONE ? `without the label ${zones.key}` : `of zone ${zone}`;
