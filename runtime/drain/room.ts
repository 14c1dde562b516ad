import { isPodTerminal, type Pod } from '../kube/objects.ts';
import { type Candidate, matches, type PodNeeds } from './needs.ts';
import { type DrainPod, podName } from './pod.ts';
import { type Amounts, mostOf, requestsOf, sumOf, without } from './requests.ts';

/** What is free there, beside the pods on it that have not ended. @param taken what each of them asks for */
export function freeOn({ allocatable }: Candidate, taken: readonly Amounts[]): Amounts {
  const left = without(allocatable, taken.reduce(sumOf, {}));
  return { ...left, pods: (allocatable['pods'] ?? Infinity) - taken.length };
}

/** What a pod on a node takes there: nothing once it has ended. */
export const takenBy = (pod: Pod): readonly Amounts[] => (isPodTerminal(pod) ? [] : [requestsOf(pod)]);

interface Moving {
  /** `namespace/name`. */
  readonly name: string;
  readonly needs: PodNeeds;
}

/** A search for room, as far as nodes have been looked at. */
export interface Room {
  /** All that have to find a place. */
  readonly moving: readonly Moving[];
  /** Those of them that have found none yet, the largest first. */
  readonly left: readonly Moving[];
  /** The same of drains that have begun. They come first, and nobody waits for the room that they may lack. */
  readonly ahead: readonly Moving[];
  /** What was free on nodes that match, in all, and on the one with most of it. */
  readonly free: Amounts;
  readonly most: Amounts;
}

/** How far it has come. */
export interface Look {
  readonly room: Room;
  /** Nodes that match, so far. */
  readonly looked: number;
  /** The continue token of those that follow. */
  readonly from: string;
}

/** The room that a drain needs. @param pods that it moves @param ahead that those move which have begun. @default none */
export function roomFor(pods: readonly DrainPod[], ahead: readonly DrainPod[] = []): Room {
  const moving = movingIn(pods);
  return { moving, left: bySize(moving), ahead: bySize(movingIn(ahead)), free: {}, most: {} };
}

/** A pod that nothing makes anew needs no room, and the successor of one that is ending was placed already. */
const movingIn = (pods: readonly DrainPod[]): readonly Moving[] =>
  pods.flatMap((pod) => {
    const { needs, controller, due } = pod;
    return needs && controller && due === undefined ? [{ name: podName(pod), needs }] : [];
  });

const bySize = (pods: readonly Moving[]): readonly Moving[] =>
  pods.toSorted((a, b) => sizeOf(b, 'cpu') - sizeOf(a, 'cpu') || sizeOf(b, 'memory') - sizeOf(a, 'memory'));

const sizeOf = ({ needs: { requests } }: Moving, resource: string): number => requests[resource] ?? 0;

/** Sums of tenths are not exact, and nobody asks for less than a thousandth. */
const isShort = (left = 0): boolean => left < -1e-6;

export const isWanted = ({ left }: Room, node: Candidate): boolean => left.some(({ needs }) => matches(needs, node));

/** Places what fits on one more node, the largest first. @param free on it */
export function offered(room: Room, node: Candidate, free: Amounts): Room {
  const { left: ahead, rest } = placed(room.ahead, node, free);
  const { left } = placed(room.left, node, rest);
  const there = mostOf(rest, {});
  return { ...room, left, ahead, free: sumOf(room.free, there), most: mostOf(room.most, there) };
}

/** @returns what is free then, and those that do not fit */
function placed(pods: readonly Moving[], node: Candidate, free: Amounts) {
  let rest = free;
  const left = pods.filter(({ needs }) => {
    const after = without(rest, { ...needs.requests, pods: 1 });
    const isFull = ['pods', ...Object.keys(needs.requests)].some((name) => isShort(after[name]));
    if (isFull || !matches(needs, node)) return true;
    rest = after;
    return false;
  });
  return { left, rest };
}

/**
 * What is needed and not free, e.g. `14 CPU needed, 9 free`; undefined where all have found a place. It leaves out what else keeps pods from a node: affinity to
 * other pods, spread, the zones of volumes.
 */
export function lackOf({ moving, left, free, most }: Room): string | undefined {
  const [largest] = left;
  if (!largest) return undefined;
  const needed = moving.map(({ needs }) => needs.requests).reduce(sumOf, {});
  const names = new Set(left.flatMap(({ needs }) => Object.keys(needs.requests)));
  const rest = without(free, needed);
  const short = [...names].filter((name) => isShort(rest[name])).toSorted();
  const said = short.map(
    (name) => `${amountText(name, needed[name])} needed, ${amountText(name, free[name], false)} free`,
  );
  if (said.length > 0) return said.join('; ');
  const { requests } = largest.needs;
  const needs = Object.keys(requests).map((name) => amountText(name, requests[name]));
  const there = Object.keys(requests).map((name) => amountText(name, most[name]));
  return `${largest.name} needs ${needs.join(', ')} on one node, where at most ${there.join(', ')} is free`;
}

const GIB = 2 ** 30;
const UNITS: Readonly<Record<string, readonly [unit: string, per: number]>> = {
  cpu: ['CPU', 1],
  memory: ['GiB of memory', GIB],
  'ephemeral-storage': ['GiB of ephemeral storage', GIB],
};

function amountText(resource: string, amount = 0, isNamed = true): string {
  const [unit, per] = UNITS[resource] ?? [resource, 1];
  const shown = String(Math.round((amount / per) * 1000) / 1000);
  return isNamed ? `${shown} ${unit}` : shown;
}
