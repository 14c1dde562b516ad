import { BEGINS_AT } from '../types.ts';
import { MINUTE } from '../units.ts';
import { compareVersions, shadowFacts, type ShadowFacts } from './facts.ts';
import { hintIn } from './hints.ts';
import { type Picture, startIn } from './picture.ts';
import type { ReleaseFacts } from './release-facts.ts';
import type { Group } from './rulings.ts';
import type { Write } from './rule.ts';
import type { SeenNode } from './seen-node.ts';

/** What policies and people say of versions, and of which nodes are well. */

/** What forbids to disturb a node, and since when it does. */
export interface Wish {
  readonly what: string;
  readonly since: number;
}

/** The version that the write sends the node to, or has it prepare ahead. */
export const wanted = (write: Write): string | undefined =>
  hintIn(write) ?? (write.after && shadowFacts(write.after).version);

export function notWell(picture: Picture, node: SeenNode): Wish | undefined {
  const { facts, readyAt, troubledAt } = node;
  if (!facts.ready) return { what: 'it is not Ready', since: readyAt };
  const { name, unwell = [] } = picture.rulings.groupOf(facts) ?? {};
  if (!unwell.some((sign) => facts.troubles.includes(sign))) return undefined;
  return { what: `${name} calls it unwell`, since: Math.max(troubledAt, picture.ruledAt(node)) };
}

/** It leaves what it runs, because that has failed or people take it back, and need not be well for that. */
export function isBack(picture: Picture, { facts }: SeenNode, write: Write): boolean {
  const version = wanted(write);
  const { status } = (write.after && shadowFacts(write.after)) ?? {};
  if (version === undefined || !status || compareVersions(version, status.current) >= 0) return false;
  const { name = '', rollsBack = false } = picture.rulings.groupOf(facts) ?? {};
  return rollsBack || releasesOf(picture, facts, status.current).some((one) => one.halted(name));
}

const releasesOf = ({ releases }: Picture, { family }: SeenNode['facts'], version: string): readonly ReleaseFacts[] =>
  [...releases.values()].filter((one) => one.version === version && one.isOf(family));

/** The policy takes other versions. */
export function pinned(picture: Picture, node: SeenNode, write: Write): Wish | undefined {
  const { name = '', version: says } = picture.rulings.groupOf(node.facts) ?? {};
  const version = wanted(write);
  if (!says || version === undefined) return undefined;
  const isOther = says.exact !== undefined && says.exact !== version;
  const isAbove = says.max !== undefined && compareVersions(version, says.max) > 0;
  return isOther || isAbove ? { what: `${name} takes no ${version}`, since: picture.ruledAt(node) } : undefined;
}

/** B7: its status, which the same write shows, does not say that its host offers the version. */
export function unoffered(write: Write): Wish | undefined {
  const { version, status } = startIn(write) ?? {};
  const isOffered = status?.target === version && status?.current !== version;
  return !status || isOffered ? undefined : { what: `its host does not offer it ${version}`, since: -Infinity };
}

/** B9: the node has left the version unasked, and nobody has asked it to try again. */
export function left({ facts }: SeenNode, write: Write): Wish | undefined {
  const { version, status } = startIn(write) ?? {};
  const isLeft = status?.reason === 'Reverted' && status.failedOn === version && status.failedText !== facts.retryOf;
  return isLeft ? { what: `it has left ${version} unasked`, since: -Infinity } : undefined;
}

interface Newer {
  readonly group: Group;
  readonly version: string;
  readonly known: readonly ReleaseFacts[];
}

/** Undefined where it is not newer than what the node runs. */
function newerBy(picture: Picture, { facts }: SeenNode, write: Write): Newer | undefined {
  const group = picture.rulings.groupOf(facts);
  const version = wanted(write);
  const { status } = (write.after && shadowFacts(write.after)) ?? {};
  if (!group || version === undefined || !status || compareVersions(version, status.current) <= 0) return undefined;
  return { group, version, known: releasesOf(picture, facts, version) };
}

export function unapproved(picture: Picture, node: SeenNode, write: Write): Wish | undefined {
  const { group, version, known } = newerBy(picture, node, write) ?? {};
  if (!group?.needsApproval || known?.some(({ approvedFor }) => approvedFor.includes(group.name))) return undefined;
  return { what: `nobody has approved ${version} for ${group.name}`, since: picture.ruledAt(node) };
}

/** By as much as the controller's clock may have been off. */
export function tooYoung(picture: Picture, node: SeenNode, write: Write): Wish | undefined {
  const { group, version, known = [] } = newerBy(picture, node, write) ?? {};
  if (!group || group.version.minAgeMs === 0) return undefined;
  const offeredAt = Math.min(...known.flatMap((one) => (one.offeredAt > 0 ? [one.offeredAt] : [])));
  const slack = 2 * picture.sight.clockOf(write.by);
  const isYoung = write.sentAt + slack < offeredAt + group.version.minAgeMs;
  return isYoung ? { what: `${version} is too young for ${group.name}`, since: picture.ruledAt(node) } : undefined;
}

/** The shadow of a node at rest that the write is to begin something on; undefined where something has begun, which goes on. */
function restIn({ before }: Write): ShadowFacts | undefined {
  const shadow = before && shadowFacts(before);
  return shadow?.state === 'Idle' ? shadow : undefined;
}

/** P15: the node's own last update, by as much as clocks may have differed. */
export function updatedLately(picture: Picture, node: SeenNode, write: Write): Wish | undefined {
  const { name = '', minIntervalMs = 0 } = picture.rulings.groupOf(node.facts) ?? {};
  const finishedAt = Date.parse(restIn(write)?.finishedAt ?? '') - BEGINS_AT;
  if (minIntervalMs === 0 || isBack(picture, node, write)) return undefined;
  const since = Math.max(finishedAt, picture.ruledAt(node));
  const isEarly = write.sentAt + picture.sight.apartMs < finishedAt + minIntervalMs;
  return isEarly ? { what: `${name} leaves it alone for longer after its last update`, since } : undefined;
}

/** P9: it pauses after a failure on that version, for longer each time, but where somebody has named that failure on it. */
export function failedLately({ sight }: Picture, node: SeenNode, write: Write): Wish | undefined {
  const { facts, askedAt, retriedBefore } = node;
  const version = wanted(write);
  const { status } = restIn(write) ?? {};
  if (version === undefined || !status?.failed.includes(version) || facts.retryOf === status.failedText)
    return undefined;
  const pauseMs = status.crashes > 0 ? Math.min(2 ** status.crashes, 1440) * MINUTE : 0;
  const isEarly = write.sentAt + BEGINS_AT + sight.apartMs < status.failedAt + pauseMs;
  // It is in the shadow that is written to; that nobody asks any more for a retry has to be seen first.
  const since = retriedBefore === status.failedText ? askedAt : -Infinity;
  return isEarly ? { what: `it has failed on ${version}, and its pause is not over`, since } : undefined;
}
