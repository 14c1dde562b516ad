import { instantOf, type Moment } from '../../lib/clock.ts';
import type { DrainProgress, ShadowCondition } from '../../api/shadow/model.ts';
import { conditionUpToDate } from '../plan/facts/conditions.ts';
import type { PermitView } from '../plan/facts/permit.ts';
import { isAtRest, isCalledOff, isUnderWay, isUndisturbed, type Phase, phaseOf } from '../plan/facts/phase.ts';
import type { Reason } from '../plan/facts/reasons.ts';
import type { NodeView, ShadowView } from '../plan/facts/snapshot.ts';
import { unreadyTimes } from '../plan/nodes/trial.ts';
import { moved, NODE_TIMES, SHADOW_TIMES, PERMIT_TIMES } from './moved-times.ts';
import { type Silence, silencesOf } from './silences.ts';
import type { AgentView, NodeFacts, ShadowFacts } from './views.ts';

/** A shadow with all that this process has observed of it. Whether the view is stale is not known here. */
export type ObservedShadow = ShadowView & { readonly stale: false };

/** By less than this the wall clock is slewed, or the two clocks were not read at quite the same time. */
const STEP_MS = 1000;

/**
 * Remembers since when each thing has been in its state. The cluster shows some of them without a time, and others with a time by another clock,
 * which is believed at first sight, but never later than that. A new process counts anew what has no time: that may delay what depends on it, but
 * never hastens it. The view of an unchanged object is used again, because in a large fleet nearly all are unchanged.
 */
export class Observations {
  /** By how much the wall clock was ahead of the monotonic one. */
  #aheadMs: number | undefined;
  /** By UID, as they were at the last look. */
  #nodes = new Map<string, SeenNode>();
  #shadows = new Map<string, SeenShadow>();
  #silences = new Map<string, Silence>();
  /** By id. */
  #permits = new Map<string, SeenPermit>();

  /**
   * To be called before each look. What is remembered is by the wall clock, as plans are; where that was set, all of it moves along, so that
   * durations are by the monotonic clock. @returns whether the clock was set: then every view is another
   */
  follow({ now, monotonic }: Moment): boolean {
    const aheadMs = now - monotonic;
    const byMs = aheadMs - (this.#aheadMs ?? aheadMs);
    if (this.#aheadMs !== undefined && Math.abs(byMs) < STEP_MS) return false;
    this.#aheadMs = aheadMs;
    if (byMs === 0) return false;
    for (const seen of this.#nodes.values()) seen.view = moved(seen.view, NODE_TIMES, byMs);
    for (const seen of this.#shadows.values()) seen.view = moved(seen.view, SHADOW_TIMES, byMs);
    for (const seen of this.#permits.values()) seen.view = moved(seen.view, PERMIT_TIMES, byMs);
    for (const silence of this.#silences.values()) silence.since += byMs;
    return true;
  }

  /** Permits by what their times count as: as they state it, but not later than first seen. */
  permits(permits: readonly PermitView[], now: number): readonly PermitView[] {
    const before = this.#permits;
    this.#permits = new Map();
    return permits.map((permit) => {
      const last = before.get(permit.id);
      const view = { ...permit };
      for (const time of PERMIT_TIMES) {
        const stated = permit[time];
        view[time] = last?.stated[time] === stated ? last?.view[time] : stated && notLater(stated, now);
      }
      this.#permits.set(permit.id, { stated: permit, view });
      return view;
    });
  }

  nodes(facts: readonly NodeFacts[], now: number): readonly NodeView[] {
    const before = this.#nodes;
    this.#nodes = new Map();
    return facts.map((node) => {
      const last = before.get(node.uid);
      const seen = last?.facts === node ? last : { facts: node, view: nodeSeen(node, last, now) };
      this.#nodes.set(node.uid, seen);
      return seen.view;
    });
  }

  /** A node with its shadow, as they were read beside the others. Neither is remembered. */
  beside(node: NodeFacts, shadow: ShadowFacts | undefined, now: number): Beside {
    const view = nodeSeen(node, this.#nodes.get(node.uid), now);
    const last = shadow && this.#shadows.get(shadow.uid);
    return { node: view, shadow: shadow && shadowSeen(shadow, view, { last, now }).view };
  }

  shadows(facts: readonly ShadowFacts[], nodes: readonly NodeView[], now: number): readonly ObservedShadow[] {
    const nodesByShadow = new Map(nodes.map((node) => [node.shadowName, node]));
    const before = this.#shadows;
    this.#shadows = new Map();
    return facts.map((shadow) => {
      const last = before.get(shadow.uid);
      const node = nodesByShadow.get(shadow.name);
      const isSame = last?.facts === shadow && last.node === node;
      const seen = isSame ? last : shadowSeen(shadow, node, { last, now });
      this.#shadows.set(shadow.uid, seen);
      return seen.view;
    });
  }

  /** By node name, since when no container of its agent runs. */
  silence(
    nodes: readonly Pick<NodeView, 'name' | 'uid'>[],
    agents: Iterable<AgentView>,
    now: number,
  ): ReadonlyMap<string, number> {
    this.#silences = silencesOf(this.#silences, { nodes, agents, now });
    return new Map([...this.#silences].map(([name, { since }]) => [name, since]));
  }
}

interface Beside {
  readonly node: NodeView;
  readonly shadow: ObservedShadow | undefined;
}

interface SeenNode {
  readonly facts: NodeFacts;
  view: NodeView;
}

interface SeenPermit {
  readonly stated: PermitView;
  view: PermitView;
}

function nodeSeen(facts: NodeFacts, last: SeenNode | undefined, now: number): NodeView {
  const { readinessStatedAt: stated, outStatedAt: _, ...node } = facts;
  const isSame = last?.facts.ready === node.ready && last.facts.readinessStatedAt === stated;
  const readinessSeenAt = isSame ? last.view.readinessSeenAt : now;
  const readyChangedAt = isSame ? last.view.readyChangedAt : notLater(stated, now);
  const from = last ? now : readyChangedAt;
  const readyFrom = isSame ? last.view.readyFrom : from;
  const unreadyAt = isSame ? last.view.unreadyAt : unreadyTimes(last?.view, now);
  const times = { createdAt: createdAt(facts, last, now), readinessSeenAt, readyChangedAt, readyFrom, unreadyAt };
  return { ...node, ...times, ...outSeen(facts, last?.view, now) };
}

const createdAt = (facts: NodeFacts, last: SeenNode | undefined, now: number): number =>
  last?.view.createdAt ?? notLater(facts.createdAt, now);

function outSeen(facts: NodeFacts, last: NodeView | undefined, now: number): Pick<NodeView, 'outAt' | 'wasReady'> {
  const { ready, unschedulable, outStatedAt } = facts;
  const outAt = unschedulable ? (last?.outAt ?? notLater(outStatedAt, now)) : undefined;
  return { outAt, wasReady: ready || last?.wasReady === true };
}

interface SeenShadow {
  readonly facts: ShadowFacts;
  readonly node: NodeView | undefined;
  /** What showed that a reboot was requested. */
  readonly request: string | undefined;
  /** Its update can be called off as if it had never begun, or was. */
  readonly untouched: boolean;
  view: ObservedShadow;
}

interface Looks {
  readonly last: SeenShadow | undefined;
  readonly now: number;
}

function shadowSeen(facts: ShadowFacts, node: NodeView | undefined, looks: Looks): SeenShadow {
  const { finishStatedAt: _, ...shadow } = facts;
  const { last, now } = looks;
  const phase = phaseOf(shadow, node ?? NO_NODE);
  const request = node && phase.kind === 'rebooting' ? phase.request : undefined;
  const view = {
    ...shadow,
    stale: false as const,
    stateSeenAt: last && inSameStates(last.facts, facts) ? last.view.stateSeenAt : now,
    stepBeganAt: stepBeganAt(facts, looks),
    stalledSince: stalledSince(facts, looks),
    rebootAskedAt: request === undefined ? undefined : askedAt(request, looks),
    lookedAt: statedAt('lookedAt', facts, looks),
    failedAt: statedAt('failedAt', facts, looks),
    finishedAt: statedAt('finishedAt', facts, looks),
    offeredAt: offeredAt(facts, looks),
    cannotLookSince: statedAt('cannotLookSince', facts, looks),
    upToDateSince: upToDateSince(facts, looks),
    endedAt: endedAt(facts, looks),
  };
  return { facts, node, request, untouched: isUntouched(facts, { phase, marks: node?.marks }, last), view };
}

type Touched = { readonly phase: Phase } & Pick<NodeView, 'marks'>;

/** What is known of the Node of a shadow that has none. */
const NO_NODE = { marks: undefined, unschedulable: false, bootId: undefined, version: undefined };

/** An update that was called off stays untouched until its agent is back at Idle, as long as there are no marks: a drain leaves some. */
function isUntouched(facts: ShadowFacts, { phase, marks }: Touched, last: SeenShadow | undefined): boolean {
  if (isUndisturbed(phase)) return true;
  return !marks && (isOfferVoid(facts) || (last?.untouched === true && isCalledOff(phase)));
}

/** The host's offer has changed. */
const isOfferVoid = ({ status }: ShadowFacts): boolean =>
  status?.current_state === 'ErrorReset' && status.last_failure?.reason === 'TargetChanged';

function inSameStates(a: ShadowFacts, b: ShadowFacts): boolean {
  const isSpecSame = a.spec.state === b.spec.state && a.spec.version === b.spec.version;
  return isSpecSame && a.status?.current_state === b.status?.current_state;
}

function stepBeganAt({ spec }: ShadowFacts, { last, now }: Looks): number {
  const { state_transition_timestamp: text } = spec;
  const before = last?.facts.spec;
  const isSame = before?.state === spec.state && (before.state_transition_timestamp ?? null) === (text ?? null);
  return last && isSame ? last.view.stepBeganAt : notLater(instantOf(text), now);
}

/** Which pods refuse to go may change with each try; that one has gone is progress. */
function stalledSince({ spec, status }: ShadowFacts, { last, now }: Looks): number | undefined {
  const drain = status?.drain;
  if (!drain || spec.state !== 'RebootedIntoUpdate') return undefined;
  return stillStalled(drain, last) ?? now;
}

function stillStalled({ started_at, pods_left }: DrainProgress, last: SeenShadow | undefined): number | undefined {
  const before = last?.facts.status?.drain;
  const isSame = before?.started_at === started_at && before.pods_left === pods_left;
  return isSame ? last?.view.stalledSince : undefined;
}

/** What shadows state of times that count as stated, but not later than first seen. */
const STATED = {
  lookedAt: ({ status }: ShadowFacts) => onceIn(status?.preflight?.looked_at),
  cannotLookSince: ({ status }: ShadowFacts) => onceIn(status?.check?.failing_since),
  failedAt: ({ status }: ShadowFacts) => instantOf(status?.state_transition_failure_timestamp),
  finishedAt: ({ finishStatedAt }: ShadowFacts) => finishStatedAt,
} as const;

/** What happened at a time that cannot be read has happened all the same. */
const onceIn = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : (instantOf(text) ?? Infinity);

function statedAt(which: keyof typeof STATED, facts: ShadowFacts, { last, now }: Looks): number | undefined {
  const { [which]: read } = STATED;
  const stated = read(facts);
  if (last && read(last.facts) === stated) return last.view[which];
  return stated === undefined ? undefined : notLater(stated, now);
}

const askedAt = (request: string, { last, now }: Looks): number | undefined =>
  request === last?.request ? last.view.rebootAskedAt : now;

/** Since this process first saw the offer, or, where it has not seen the shadow without it, since the time that the condition states. */
function offeredAt({ status }: ShadowFacts, { last, now }: Looks): number | undefined {
  if (!status || status.current_version === status.target_version) return undefined;
  if (last) return last.view.offeredAt ?? now;
  const condition = conditionUpToDate(status);
  return notLater(condition?.status === 'False' ? instantOf(condition.lastTransitionTime) : undefined, now);
}

const BLIND: Reason = 'CannotLookForUpdates';

function upToDateSince({ status }: ShadowFacts, { last, now }: Looks): number | undefined {
  const condition = conditionUpToDate(status);
  const known = last?.view.upToDateSince;
  if (condition?.reason === BLIND) return known;
  if (condition?.status !== 'True') return undefined;
  const isSame = known !== undefined && wasUpToDate(conditionUpToDate(last?.facts.status), condition);
  return isSame ? known : notLater(instantOf(condition.lastTransitionTime), now);
}

/** A host that cannot look for updates goes on running its version, so its time on that version goes on too. */
const wasUpToDate = (before: ShadowCondition | undefined, { lastTransitionTime }: ShadowCondition): boolean =>
  before?.reason === BLIND || (before?.status === 'True' && before.lastTransitionTime === lastTransitionTime);

/**
 * At first sight, when an update was last finished or failed, by what is stored. An update that was called off before its node was disturbed has
 * not ended: otherwise a node that is called off again and again would keep all others of its policy waiting.
 */
function endedAt(facts: ShadowFacts, { last, now }: Looks): number | undefined {
  if (facts.movedNobody) return last?.view.endedAt;
  if (last) return isAtRest(facts) && hasEnded(last, facts) ? now : last.view.endedAt;
  const stored = Math.max(facts.finishStatedAt ?? -Infinity, instantOf(failureOf(facts)) ?? -Infinity);
  return stored === -Infinity ? undefined : notLater(stored, now);
}

function hasEnded({ facts: before, untouched }: SeenShadow, after: ShadowFacts): boolean {
  return (isUnderWay(before) && !untouched) || hasEndedUnseen(before, after);
}

/** An update that began and ended between two looks has changed one of these times. */
function hasEndedUnseen(before: ShadowFacts, after: ShadowFacts): boolean {
  return before.finishStatedAt !== after.finishStatedAt || failureOf(before) !== failureOf(after);
}

const failureOf = ({ status }: ShadowFacts): string | null => status?.state_transition_failure_timestamp ?? null;

/** A stated time that lies in the future, because another clock is ahead, counts as when it was first seen. */
const notLater = (stated: number | undefined, seen: number): number => Math.min(stated ?? seen, seen);
