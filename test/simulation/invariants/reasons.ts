import { BEGINS_AT, type Instant } from '../types.ts';
import type { ShadowFacts } from './facts.ts';
import type { Sorted, Standing } from './liveness.ts';
import type { Group } from './rulings.ts';
import type { SeenNode } from './seen-node.ts';

const MINUTE = 60_000;
/** By how much what a node states may be off, milliseconds. */
const HEARSAY = 25 * MINUTE;

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
  RolloutHalted: (asked) => (hasFailed(asked) ? 'kept' : undefined),
  OutsideWindow: (asked) => inGroup(asked, ({ hasWindows }) => (hasWindows ? 'going' : undefined)),
  FitsNoWindow: (asked) => inGroup(asked, ({ fits }) => (fits ? 'kept' : undefined)),
  Reverted: ({ shadow: { status } }) => (status?.reason === 'Reverted' ? 'kept' : undefined),
  Held: ({ node: { facts } }) => (facts.held ? 'kept' : undefined),
  DrainBlocked: ({ shadow: { status } }) => (status?.draining ? 'going' : undefined),
  // Also for the pause between updates, and for nodes of other zones: the condition says no more.
  WaitingForSlot: (asked) =>
    inGroup(asked, ({ pauseBetweenMs }) => (pauseBetweenMs > 0 ? 'going' : undefined)) ?? waitingFor(asked),
  Paused: (asked) => inGroup(asked, (group) => (group.paused ? 'kept' : undefined)),
  PolicyInvalid: (asked) => (rulingOf(asked) === 'broken' ? 'kept' : undefined),
  PolicyConflict: (asked) => (rulingOf(asked) === 'conflict' ? 'kept' : undefined),
  Frozen: (asked) =>
    inGroup(asked, (group) => {
      const ends = group.freezes.filter(({ from, to }) => from - MINUTE <= asked.now && asked.now < to + MINUTE);
      return ends.length === 0 ? undefined : lasting(Math.max(...ends.map(({ to }) => to)), asked.now);
    }),
  Unproven: (asked) => waitingFor(asked),
  WaitingForPolicy: (asked) => inGroup(asked, (group) => waiting(asked, group)),
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
]);

/** It is asked to let its pods go, or was until its update was called off, which its agent has still to take back. */
export const isInDrain = ({ state, status }: ShadowFacts): boolean =>
  status?.draining === true && (state === 'RebootedIntoUpdate' || status.state === 'StagedAndPerformedUpdate');

const lasting = (until: Instant, now: Instant): Standing => (until - now > 30 * MINUTE ? 'kept' : 'going');

const rulingOf = ({ node, sorted: { picture } }: Asked): string => picture.rulings.of(node.facts).kind;

/** What is so for those that are ruled as it is. */
function inGroup(
  { node, sorted: { picture } }: Asked,
  judge: (group: Group) => Standing | undefined,
): Standing | undefined {
  const group = picture.rulings.groupOf(node.facts);
  return group && judge(group);
}

/** Somebody has failed on the release that it is offered, or on one that is not on record: an older agent keeps none. */
function hasFailed({ node, shadow, sorted: { picture } }: Asked): boolean {
  const version = shadow.status?.target ?? '';
  return [...picture.nodes.values()].some(({ facts }) => {
    const { status, verdict } = picture.shadowOf(facts) ?? {};
    if (facts.family !== node.facts.family || !status) return false;
    const isUnrecorded = status.crashes > 0 && status.reason === undefined && status.failed.length === 0;
    return status.failed.includes(version) || isUnrecorded || LOST.has(verdict?.reason ?? '');
  });
}

const LOST: ReadonlySet<string> = new Set(['NotReturned', 'SoakFailed']);

/** Some of those that come before go on; or each of them is kept for a reason of its own. A policy that is not there is waited for. */
function waiting({ now, sorted }: Asked, { after }: Group): Standing | undefined {
  if (after.length === 0) return undefined;
  return after.some((name) => sorted.isMoving(name, now)) ? 'going' : 'kept';
}

/** Nodes that are not Ready take places for a while, and say nothing where they have no update to wait for. */
function waitingFor({ now, sorted }: Asked): Standing {
  const places = sorted.places(now);
  if (places === 'stuck') return 'kept';
  if (places !== 'silent') return 'going';
  return { wrong: 'it waits for nodes of which nobody is told', moreMs: sorted.picture.terms.notReadyHoldMs };
}
