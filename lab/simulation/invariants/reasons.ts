import type { Reason } from '../../../runtime/controller/plan/facts/reasons.ts';
import { BEGINS_AT, type Instant } from '../types.ts';
import { MINUTE } from '../units.ts';
import type { ShadowFacts } from './facts.ts';
import type { Fleet, Standing } from './liveness.ts';
import type { ReleaseFacts } from './release-facts.ts';
import type { Group } from './rulings.ts';
import type { SeenNode } from './seen-node.ts';

/** By how much what a node states may be off, milliseconds. */
const HEARSAY = 25 * MINUTE;

/** A managed node that is not updated, and the fleet around it. */
export interface Asked {
  readonly node: SeenNode;
  readonly shadow: ShadowFacts;
  /** Whether an agent runs there. */
  readonly runs: boolean;
  readonly now: Instant;
  readonly fleet: Fleet;
}

type Judge = (asked: Asked) => Standing | false;
type Judges = { readonly [R in Reason]?: Judge };

/**
 * By verdict, what it says of a node, as the world has it: it stays as it is, somebody goes on, or it is not so. Any that is judged nowhere is not so
 * once a storm is over: nothing may stay as it is by it.
 */
const TRUE = {
  Held: ({ node }) => node.facts.held && 'kept',
  Reverted: ({ shadow }) => shadow.status?.reason === 'Reverted' && 'kept',
  BackingOff: ({ shadow, now }) => backingOff(shadow, now),
  RolloutHalted: (asked) => hasFailed(asked) && 'kept',
  TooManyUnhealthy: ({ fleet: { picture } }) =>
    [...picture.nodes.values()].filter(({ facts }) => !facts.ready).length > 3 && 'kept',
  OutsideWindow: ruledBy(({ hasWindows }) => hasWindows && 'going'),
  FitsNoWindow: ruledBy(({ fits }) => fits && 'kept'),
  Paused: ruledBy(({ paused }) => paused && 'kept'),
  PolicyInvalid: ({ node, fleet }) => fleet.picture.rulings.of(node.facts).kind === 'broken' && 'kept',
  PolicyConflict: ({ node, fleet }) => fleet.picture.rulings.of(node.facts).kind === 'conflict' && 'kept',
  RecentlyUpdated: ruledBy(({ minIntervalMs }) => minIntervalMs > 0 && 'going'),
  WorkloadsWorse: (asked) => isWorse(asked) && 'kept',
  TooYoung: ruledBy(({ version }) => version.minAgeMs > 0 && 'going'),
  AwaitingApproval: ruledBy(({ name, needsApproval }, asked) => needsApproval && !isApproved(name, asked) && 'kept'),
  Checking: ruledBy(({ hasChecks }) => hasChecks && 'going'),
  CheckFailed: ruledBy(({ hasChecks }) => hasChecks && 'kept'),
  Frozen: ruledBy(({ freezes }, { now }) => {
    const ends = freezes.filter(({ from, to }) => from - MINUTE <= now && now < to + MINUTE).map(({ to }) => to);
    return ends.length > 0 && lasting(Math.max(...ends), now);
  }),
} satisfies Judges;

/** What waits for others. A node that is held, not Ready or without its agent waits for nobody. */
const WAITS = {
  // Also for the pause between updates, and for nodes of other zones: the condition says no more.
  WaitingForSlot: ruledBy(({ pauseBetweenMs }, asked) => (pauseBetweenMs > 0 ? 'going' : waitingFor(asked))),
  Unproven: waitingFor,
  WaitingForPolicy: ruledBy(({ after }, { fleet, now }) => {
    if (after.length === 0) return false;
    return after.some((name) => fleet.isMoving(name, now)) ? 'going' : 'kept';
  }),
  NoRoom: ruledBy(({ waitsForRoom }) => waitsForRoom && 'kept'),
  DrainBlocked: ({ shadow }) => shadow.status?.draining === true && 'going',
  BudgetsCrossed: () => 'going',
} satisfies Judges;

/** Of a node that is not well. */
const UNWELL = {
  NodeNotReady: ({ node }) => !node.facts.ready && 'kept',
  SoakFailed: ({ node }) => !node.facts.ready && 'kept',
  ProgressDeadlineExceeded: ({ node, shadow }) => shadow.active && !node.facts.ready && 'kept',
  NotReturned: ({ node, shadow, runs }) => shadow.active && (!node.facts.ready || !runs) && 'kept',
  AgentSilent: ({ node, runs }) => node.facts.ready && !runs && 'kept',
} satisfies Judges;

/** Nothing stays as it is by these, but a node of which they are said keeps its place meanwhile. */
const DESERTED: ReadonlySet<string> = new Set<Reason>(['AgentMissing', 'ShadowNotOwned']);

/** Whether its node waits for a person who repairs it, and says so. */
export const callsSomebody = (reason = ''): boolean => reason in UNWELL || DESERTED.has(reason);

/** How a node stands by what is said of it; undefined where that is not so. */
export function standingBy(asked: Asked, isWell: boolean): Standing | undefined {
  const reason = asked.shadow.verdict?.reason ?? '';
  const ofUnwell: Judges = { ...UNWELL, ...(asked.shadow.active ? { Held: TRUE.Held } : TRUE) };
  const judges: Readonly<Record<string, Judge | undefined>> = isWell ? { ...TRUE, ...WAITS } : ofUnwell;
  return judges[reason]?.(asked) || undefined;
}

/** What is so for those that are ruled as it is. */
function ruledBy(judge: (group: Group, asked: Asked) => Standing | false): Judge {
  return (asked) => {
    const group = asked.fleet.picture.rulings.groupOf(asked.node.facts);
    return group !== undefined && judge(group, asked);
  };
}

const lasting = (until: Instant, now: Instant): Standing => (until - now > 30 * MINUTE ? 'kept' : 'going');

/** The pause doubles with each failure, up to a day. */
function backingOff({ status }: ShadowFacts, now: Instant): Standing | false {
  const pauseMs = Math.min(2 ** (status?.crashes ?? 0), 1440) * MINUTE;
  const until = (status?.failedAt ?? NaN) - BEGINS_AT + pauseMs;
  return status !== undefined && status.crashes > 0 && now < until + HEARSAY && lasting(until, now);
}

function isApproved(policy: string, { node, shadow, fleet: { picture } }: Asked): boolean {
  const isOf = ({ version, isOf: isOfFamily }: ReleaseFacts): boolean =>
    version === shadow.status?.target && isOfFamily(node.facts.family);
  return [...picture.releases.values()].some((one) => isOf(one) && one.approvedFor.includes(policy));
}

type Known = Pick<Asked, 'node' | 'shadow' | 'fleet'>;

/** It runs what is bad, and no way leads back that anybody knows; a check of it has failed; or it has booted again and again, and nobody asked. */
const FOR_PERSON: Readonly<Record<string, (known: Known, group: Partial<Group>) => boolean>> = {
  CheckFailed: (_, { hasChecks = false }) => hasChecks,
  WorkloadsWorse: (known) => isWorse(known),
  NotOffered: (known, { rollsBack }) => rollsBack === true && hasFailed(known, known.shadow.status?.current),
  Unstable: ({ fleet, node }) => (fleet.picture.hosts.get(node.facts.name)?.unaskedBoots ?? 0) >= 2,
};

export const isForPerson = (known: Known): boolean =>
  FOR_PERSON[known.shadow.verdict?.reason ?? '']?.(
    known,
    known.fleet.picture.rulings.groupOf(known.node.facts) ?? {},
  ) ?? false;

/** Of a release on which the pods of a DaemonSet do not run, where its policy counts that. */
const isWorse = ({ node, shadow, fleet }: Known): boolean =>
  fleet.breaking.has(shadow.status?.current ?? '') && fleet.picture.rulings.groupOf(node.facts)?.failsWorse === true;

/** Some node of its kind has failed on the release that it is offered, or on one that is not on record: an older agent keeps none. */
function hasFailed({ node, shadow, fleet: { picture } }: Known, version = shadow.status?.target ?? ''): boolean {
  const releases = [...picture.releases.values()].filter(
    (one) => one.version === version && one.isOf(node.facts.family),
  );
  if (releases.some(({ failures, haltedWhere }) => failures > 0 || haltedWhere !== '')) return true;
  return [...picture.nodes.values()].some(({ facts }) => {
    const { status, verdict } = picture.shadowOf(facts) ?? {};
    if (facts.family !== node.facts.family || !status) return false;
    const isUnrecorded = status.crashes > 0 && status.reason === undefined && status.failed.length === 0;
    return status.failed.includes(version) || isUnrecorded || LOST.has(verdict?.reason ?? '');
  });
}

const LOST: ReadonlySet<string> = new Set(['NotReturned', 'SoakFailed']);

/** Nodes that are not Ready take places for a while, and say nothing where they have no update to wait for. */
function waitingFor({ now, fleet }: Asked): Standing {
  const places = fleet.places(now);
  if (places === 'stuck') return 'kept';
  return places === 'silent' ? { wrong: 'it waits for nodes of which nobody is told' } : 'going';
}
