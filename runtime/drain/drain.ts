import type { Listed } from '../kube/collection.ts';
import { type Node, readySince } from '../kube/objects.ts';
import { instantOf } from '../lib/clock.ts';
import type { DrainProgress } from '../api/shadow/model.ts';
import { readMarks } from '../api/marks/marks.ts';
import type { LetFinish } from '../api/shadow/let-finish.ts';
import { selects } from '../lib/selector.ts';
import { type FilterTerms, isOwnTurn, othersLeft, type PodDeleteList, podsLeft } from './filter.ts';
import type { Cover } from './cover.ts';
import type { DrainPod } from './pod.ts';

/** What to do with a drain that could not end as things are. */
export type Preflight = 'warn' | 'refuse';

export interface DrainSettings {
  readonly preflight: Preflight;
  /** How long drains for a version are refused before one is tried all the same, milliseconds; 0 = for as long as it lasts. */
  readonly refuseMs: number;
  /** How long a drain may take from its beginning, milliseconds; 0 = for ever. */
  readonly timeoutMs: number;
  /** Most eviction requests in flight for one drain. */
  readonly maxInFlight: number;
  /** How long a drain may wait for the volumes of its pods, milliseconds; 0 = not at all. */
  readonly volumesMs: number;
  /** How long a pod that is ending is waited for after it was due, milliseconds; 0 = for ever. */
  readonly skipWaitMs: number;
}

/** By what a drain is judged at a moment. */
export interface DrainRules extends DrainSettings {
  /** The operator's own. */
  readonly namespace: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** By UID: why a pod could not be evicted at the last try. */
export type Blocked = ReadonlyMap<string, string>;

/** A drain of a node, as one look at the API shows it. All that lasts of it is on the Node and in its shadow. */
export interface Drain {
  /** As it was at the moment it was seen, or made, cordoned by this drain. */
  readonly node: Node;
  readonly id: string;
  /** When it began (RFC 3339). */
  readonly since: string;
  /** See FilterTerms. */
  readonly lateAfter: number;
  /** All pods on the node, read before it was cordoned where this look has cordoned it. */
  readonly seen: Listed<DrainPod>;
  /** What is to be done with them. Where none is left, they were read after it was seen cordoned. */
  readonly list: PodDeleteList;
  /** Why pods were not evicted by this replica; undefined where it has not worked on the drain. */
  readonly blocked: Blocked | undefined;
  /** As it stands in the shadow's status. */
  readonly progress: DrainProgress;
  /** While it lets work finish, whose. */
  readonly wait: Wait | undefined;
  /** What covers its pods, as it stands there. */
  readonly cover: Cover;
  /** resourceVersion of the shadow after that. */
  readonly shadowVersion: string;
}

/** Whose work a drain lets finish before it evicts anybody. */
export interface Wait extends Pick<LetFinish, 'pods' | 'doNotDisrupt'> {
  /** RFC 3339; at most. */
  readonly until: string;
}

/** The pods that a drain lets finish: of those that it would evict, and that nobody has told to end. */
export const letFinish = (list: PodDeleteList, wait: Omit<Wait, 'until'> | undefined): readonly DrainPod[] =>
  wait === undefined
    ? []
    : othersLeft(list).filter(
        ({ labels, due, doNotDisrupt }) =>
          due === undefined && (selects(wait.pods, labels) || (wait.doNotDisrupt && doNotDisrupt)),
      );

/** By what the pods of a drain's node are told apart. */
export function termsOf(drain: Pick<Drain, 'node' | 'lateAfter'>, rules: DrainRules): FilterTerms {
  const { node, lateAfter } = drain;
  const { namespace, skipWaitMs, now } = rules;
  const overdue = { from: readySince(node) ?? Infinity, to: skipWaitMs === 0 ? -Infinity : now - skipWaitMs };
  return { lateAfter, namespace, returning: new Set(readMarks(node)?.returning), overdue };
}

/** What a drain does next. */
export type DrainStep =
  /** All work is finished that it lets finish, or its time for that is over: evict from now on. */
  | { readonly kind: 'begin' }
  /** No pod is left that it has to see gone: prove it. */
  | { readonly kind: 'prove' }
  /** Its time is over. */
  | { readonly kind: 'refuse' }
  /** Evict these, as far as they are not ending, and look again when something changes: at the instant `until` at the latest. */
  | { readonly kind: 'wait'; readonly evict: readonly DrainPod[]; readonly until: number };

/**
 * Decides by what is in the API alone, and by its clock. So every replica decides alike, and any continues where another stopped. The first
 * half of a drain's time is for pods that are not of system priority.
 */
export function nextStep(
  { list, since, wait }: Pick<Drain, 'since' | 'list' | 'wait'>,
  { timeoutMs, skipWaitMs, now }: Pick<DrainRules, 'timeoutMs' | 'skipWaitMs' | 'now'>,
): DrainStep {
  const left = podsLeft(list);
  if (wait) return whileFinishing(letFinish(list, wait), wait, now);
  if (left.length === 0) return { kind: 'prove' };
  const began = Date.parse(since);
  const [half, deadline] = timeoutMs === 0 ? [Infinity, Infinity] : [began + timeoutMs / 2, began + timeoutMs];
  if (now >= deadline) return { kind: 'refuse' };
  const overdue = left.map(({ due }) => (instantOf(due) ?? Infinity) + skipWaitMs);
  const until = Math.min(...[half, deadline, ...overdue].filter((instant) => instant > now));
  return { kind: 'wait', evict: wave(list, now >= half), until };
}

/** A time that cannot be read is over. */
function whileFinishing(pods: readonly DrainPod[], wait: Wait, now: number): DrainStep {
  const until = instantOf(wait.until) ?? -Infinity;
  return pods.length === 0 || until <= now ? { kind: 'begin' } : { kind: 'wait', evict: [], until };
}

/**
 * Pods of system priority go once the others are gone: a volume can be unmounted only while the pod that serves it runs. An other that does
 * not go keeps them only for a while, so that they too can end in time.
 */
function wave(list: PodDeleteList, isHalfOver: boolean): readonly DrainPod[] {
  const others = list.pods.length > 0 && !isHalfOver ? list.pods : othersLeft(list);
  return isOwnTurn(list) ? [...others, ...list.own] : others;
}
