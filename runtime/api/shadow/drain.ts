import { instantOf } from '../../lib/clock.ts';
import type { DrainProgress } from './model.ts';

/** What `status.drain` says, and for how long it may be believed. */

/** Writes to a Node that an admission policy or a webhook may refuse for as long as it likes. */
export type NodeWrite = 'exclusion' | 'cordon' | 'proof' | 'release' | 'inclusion';

const REFUSED = /^the (?:exclusion|cordon|proof|release|inclusion) is (?:refused|not answered)\b/;

/** Those of `blocked_by` that are about a write to the Node, and not about its pods. */
export const refusalsIn = (blocked_by: readonly string[]): string[] => blocked_by.filter((text) => REFUSED.test(text));

const NO_ROOM = 'NoRoom: ';
/** As it stands in `blocked_by`. @param lack what is needed and not free */
export const noRoomText = (lack: string): string => `${NO_ROOM}${lack}`;
/** Where nothing but a lack of room keeps a drain from its beginning. */
export const isOfRoom = (blocked_by: readonly string[]): boolean =>
  blocked_by.length > 0 && blocked_by.every((text) => text.startsWith(NO_ROOM));

export const lackIn = (blocked_by: readonly string[]): string =>
  blocked_by.map((text) => text.slice(NO_ROOM.length)).join(', ');

const BUDGET = /^PodDisruptionBudget (\S+) \(pod /;
/** The budgets that keep pods from their eviction: `namespace/name`. A pod with two is refused for ever, whoever is back. */
export const budgetsIn = (blocked_by: readonly string[]): ReadonlySet<string> =>
  new Set(blocked_by.flatMap((text) => BUDGET.exec(text)?.[1] ?? []));

/** Whoever drains says every half minute that it is still so. */
const BELIEVED_MS = 60_000;

/** When a drain that has begun is given up; undefined where it never is. @param timeoutMs 0 = no limit */
export function drainEndsAt({ started_at }: Pick<DrainProgress, 'started_at'>, timeoutMs: number): number | undefined {
  const startedAt = instantOf(started_at);
  return startedAt === undefined || timeoutMs === 0 ? undefined : startedAt + timeoutMs;
}

/** What is known of a drain at a moment. */
export type Progress =
  /** It is as stated, until that instant at least. */
  | { readonly kind: 'known'; readonly until: number }
  /** What was said last is old, or the Node says otherwise. */
  | { readonly kind: 'silent'; readonly since: number };

/**
 * How far a drain's progress can be believed. One without a time, as an older apiserver writes it, and one that is over, are believed.
 * @param marks on the Node @param now milliseconds since the Unix epoch
 */
export function progressAt(
  { reported_at, pods_left, blocked_by }: DrainProgress,
  marks: { readonly drained?: string | undefined } | undefined,
  now: number,
): Progress {
  const since = instantOf(reported_at);
  if (since === undefined || (pods_left === 0 && blocked_by.length === 0)) return { kind: 'known', until: Infinity };
  const until = since + BELIEVED_MS;
  const isContradicted = pods_left > 0 && marks?.drained !== undefined;
  return isContradicted || until <= now ? { kind: 'silent', since } : { kind: 'known', until };
}
