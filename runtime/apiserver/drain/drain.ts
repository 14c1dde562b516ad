import type { Node } from '../../kube/objects.ts';
import type { DrainProgress } from '../../shadow/model.ts';
import type { Preflight } from '../config.ts';
import { type PodDeleteList, podsLeft } from './filter.ts';
import type { DrainPod } from './pod.ts';

export interface DrainSettings {
  /** What to do with a drain that could not end as things are. */
  readonly preflight: Preflight;
  /** How long a drain may take from its beginning, milliseconds; 0 = for ever. */
  readonly timeoutMs: number;
  /** Most eviction requests in flight for one drain. */
  readonly maxInFlight: number;
  /** How long a drain may wait for the volumes of its pods, milliseconds; 0 = not at all. */
  readonly volumesMs: number;
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
  /** The pods on the node, read after it was seen cordoned. */
  readonly list: PodDeleteList;
  /** Why pods were not evicted by this replica; undefined where it has not worked on the drain. */
  readonly blocked: Blocked | undefined;
  /** As it stands in the shadow's status. */
  readonly progress: DrainProgress;
  /** resourceVersion of the shadow after that. */
  readonly shadowVersion: string;
}

/** What a drain does next. */
export type Step =
  /** No pod is left that it has to see gone: prove it. */
  | { readonly kind: 'prove' }
  /** Its time is over. */
  | { readonly kind: 'refuse' }
  /** Evict these, as far as they are not ending, and look again when something changes. */
  | { readonly kind: 'wait'; readonly evict: readonly DrainPod[] };

/** Decides by what is in the API alone. So every replica decides alike, and any continues where another stopped. */
export function nextStep(drain: Pick<Drain, 'since' | 'list'>, settings: DrainSettings, now: number): Step {
  const { pods, own } = drain.list;
  if (podsLeft(drain.list).length === 0) return { kind: 'prove' };
  if (now >= deadlineOf(drain, settings)) return { kind: 'refuse' };
  return { kind: 'wait', evict: pods.length > 0 ? pods : own };
}

/** Milliseconds since the Unix epoch. Every replica computes the same instant, because the time counts from what is written on the node. */
export function deadlineOf({ since }: Pick<Drain, 'since'>, { timeoutMs }: DrainSettings): number {
  return timeoutMs === 0 ? Infinity : Date.parse(since) + timeoutMs;
}
