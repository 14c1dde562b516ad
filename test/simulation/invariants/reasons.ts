import { BEGINS_AT, type Instant } from '../types.ts';
import type { ShadowFacts } from './facts.ts';
import type { Sorted, Standing } from './liveness.ts';
import { type Release, tally, well } from './proofs.ts';
import type { Group } from './rulings.ts';
import type { SeenNode } from './seen-node.ts';
import { longestOpening } from './settings.ts';

const MINUTE = 60_000;
/** By how much what a node states may be off, milliseconds. */
const HEARSAY = 25 * MINUTE;

/** After an update whose drain was refused, its node is left alone for an hour at most; a verdict may be late by some minutes. */
const LEFT_ALONE = 65 * MINUTE;

/** A healthy node that is not updated, and the fleet around it. */
interface Asked {
  readonly node: SeenNode;
  readonly shadow: ShadowFacts;
  readonly now: Instant;
  readonly sorted: Sorted;
}

/** What may keep a healthy node from its update, and when that is true; undefined where it is not. */
export const RIGHT: Readonly<Record<string, (asked: Asked) => Standing | undefined>> = {
  BackingOff: ({ shadow: { status }, now }) => {
    const minutes = Math.min(2 ** (status?.crashes ?? 0), 1440);
    const until = (status?.failedAt ?? NaN) - BEGINS_AT + minutes * MINUTE;
    if (!status?.crashes || !(now < until + HEARSAY)) return undefined;
    return lasting(until, now);
  },
  RolloutHalted: (asked) =>
    inGroup(asked, (release) => (asked.sorted.isHalted(release, asked.now) ? 'kept' : undefined)),
  OutsideWindow: (asked) => inGroup(asked, (release) => outside(asked, release)),
  FitsNoWindow: (asked) => inGroup(asked, (release) => (fitsNowhere(asked, release) ? 'kept' : undefined)),
  Reverted: ({ shadow: { status } }) => (status?.reason === 'Reverted' ? 'kept' : undefined),
  Held: ({ node: { facts } }) => (facts.held ? 'kept' : undefined),
  DrainBlocked: (asked) => (isLeftAlone(asked) ? 'going' : undefined),
  WaitingForSlot: (asked) => waitingFor(asked),
  Paused: (asked) => inGroup(asked, ({ group }) => (group.paused ? 'kept' : undefined)),
  PolicyInvalid: (asked) => (rulingOf(asked) === 'broken' ? 'kept' : undefined),
  PolicyConflict: (asked) => (rulingOf(asked) === 'conflict' ? 'kept' : undefined),
  Frozen: (asked) =>
    inGroup(asked, ({ group }) => {
      const ends = group.freezes.filter(({ from, to }) => from - MINUTE <= asked.now && asked.now < to + MINUTE);
      return ends.length === 0 ? undefined : lasting(Math.max(...ends.map(({ to }) => to)), asked.now);
    }),
  Pausing: (asked) => inGroup(asked, ({ group }) => (group.pauseBetweenMs > 0 ? 'going' : undefined)),
  ZoneBusy: (asked) =>
    inGroup(asked, ({ group }) => (group.zonesAtOnce === Infinity ? undefined : waitingFor(asked, isOf(asked, group)))),
  Unproven: (asked) => inGroup(asked, (release) => unproven(asked, release)),
  WaitingForPolicy: (asked) => inGroup(asked, ({ group }) => waiting(asked, group)),
};

/** What is true of a node by itself, whatever others do. */
export const OWN: ReadonlySet<string> = new Set([
  'Held',
  'Reverted',
  'BackingOff',
  'RolloutHalted',
  'OutsideWindow',
  'FitsNoWindow',
  'Paused',
  'PolicyInvalid',
  'PolicyConflict',
  'Frozen',
  'Pausing',
]);

/** It is asked to let its pods go, or was until its update was called off, which its agent has still to take back. */
export const isInDrain = ({ state, status }: ShadowFacts): boolean =>
  status?.draining === true && (state === 'RebootedIntoUpdate' || status.state === 'StagedAndPerformedUpdate');

/** L8: its last update was called off before it was disturbed, while its drain was refused, and the pause after that may last. */
function isLeftAlone({ node: { facts }, shadow: { status }, now, sorted: { picture } }: Asked): boolean {
  const endedAt = picture.endedAt.get(facts.uid) ?? -Infinity;
  const isUndisturbed = endedAt > (picture.pausedFrom.get(facts.uid) ?? -Infinity);
  return status?.draining === true && isUndisturbed && now - endedAt < LEFT_ALONE;
}

const lasting = (until: Instant, now: Instant): Standing => (until - now > 30 * MINUTE ? 'kept' : 'going');

const rulingOf = ({ node, sorted: { picture } }: Asked): string => picture.rulings.of(node.facts).kind;

/** What is so for the release that it is offered, among those that are ruled as it is. */
function inGroup(
  { node, shadow, sorted: { picture } }: Asked,
  judge: (release: Release) => Standing | undefined,
): Standing | undefined {
  const group = picture.rulings.groupOf(node.facts);
  return group && judge({ group, family: node.facts.family, version: shadow.status?.target ?? '' });
}

const isOf =
  ({ sorted: { picture } }: Asked, { name }: Group) =>
  ({ facts }: SeenNode): boolean =>
    facts.managed && picture.rulings.isClaimed(facts, name);

const outside = (asked: Asked, { group }: Release): Standing | undefined =>
  isClosed(group, asked.now) ? 'going' : undefined;

/** In no window to come is there time for an update, where each has to fit: somebody has to open a longer one. */
const fitsNowhere = (asked: Asked, { group, family }: Release): boolean =>
  group.fits && updateMs(asked, family) >= longestOpening(group.window) - MINUTE;

/** What its last update took, or the longest of its kind; below 0 where nobody knows. */
function updateMs({ shadow: { lastMs }, sorted: { picture } }: Asked, family: string): number {
  if (!Number.isNaN(lastMs)) return lastMs;
  const kin = [...picture.nodes.values()].filter(({ facts }) => facts.managed && facts.family === family);
  return Math.max(-1, ...kin.map(({ facts }) => picture.shadowOf(facts)?.lastMs || 0));
}

/** Whether updates may start now, or a window that fits has never to come. */
const isClosed = ({ fits, window }: Group, now: Instant): boolean => fits || !window(now) || !window(now - 2 * MINUTE);

/** Those who prove it are on their way, or have to be well for a while yet; or each of them waits for a person, and one of them says so. */
function unproven(asked: Asked, release: Release): Standing {
  const { picture } = asked.sorted;
  const { flying } = tally(picture, release);
  const resting = picture
    .membersOf(release.group)
    .some((one) => one.facts.family === release.family && well(picture, one) === release.version);
  if (resting) return 'going';
  return waitingFor(asked, (one) => flying.includes(one));
}

/** Some of those that come before go on; or each of them is kept for a reason of its own. A policy that is not there is waited for. */
function waiting({ now, sorted }: Asked, { after }: Group): Standing | undefined {
  if (after.length === 0) return undefined;
  return after.some((name) => sorted.isMoving(name, now)) ? 'going' : 'kept';
}

/** Nodes that are not Ready take places for a while, and say nothing where they have no update to wait for. */
function waitingFor({ now, sorted }: Asked, counts?: (node: SeenNode) => boolean): Standing {
  const places = sorted.places(now, counts);
  if (places === 'stuck') return 'kept';
  if (places !== 'silent') return 'going';
  return { wrong: 'it waits for nodes of which nobody is told', moreMs: sorted.picture.terms.notReadyHoldMs };
}
