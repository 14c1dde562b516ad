import { rfc3339 } from '../../lib/clock.ts';
import { STAGE_ANNOTATION, UPDATED_FROM_ANNOTATION } from '../../shadow/names.ts';
import type { Budgets } from './budgets.ts';
import type { Start } from './commands.ts';
import type { Group } from './groups.ts';
import type { AssessedNode } from './health.ts';
import { isQueued } from './reasons.ts';
import { NEVER } from './requeue.ts';
import type { PermitTerms } from './permit.ts';
import { compare, type NodeInfo, type ShadowView } from './snapshot.ts';
import { type Candidate, candidateOf, type GateContext, othersGate, ownGate } from './start-gate.ts';
import { type Finding, found } from './verdict.ts';
import type { Zone, Zones } from './zones.ts';

export interface Starts {
  readonly commands: readonly Start[];
  /** The policies whose nodes these are. */
  readonly starting: ReadonlySet<Group>;
  /** By UID of the node, what keeps it from starting the update that it is offered. */
  readonly findings: ReadonlyMap<string, Finding>;
  /** Policies under which a node could start if other nodes did not use up the policy's budget, or had proven the release. */
  readonly waiting: ReadonlySet<Group>;
  /** A node could start if the budget over all policies were not used up. */
  readonly isCapped: boolean;
  /** When time alone changes any of this for the nodes of a policy. */
  readonly changesAt: ReadonlyMap<Group, number>;
}

/** Decides which nodes start: what is left of the budgets goes to the candidates in their turn. @param managed nodes of the fleet */
export function chooseStarts(managed: readonly AssessedNode[], budgets: Budgets, context: GateContext): Starts {
  const round = new Round(budgets, context);
  for (const info of managed) round.consider(info);
  return round.end();
}

class Round {
  readonly #budgets: Budgets;
  readonly #context: GateContext;
  readonly #commands: Start[] = [];
  readonly #starting = new Set<Group>();
  readonly #findings = new Map<string, Finding>();
  readonly #changesAt = new Map<Group, number>();
  /** Candidates that nothing but other nodes can keep from starting. */
  readonly #ready = new Map<Group, Candidate[]>();
  /** The node that the controller runs on. It comes last, because its drain interrupts the controller. */
  #own: Candidate | undefined;
  /** Candidates that did not start, in the order of their turns. */
  readonly #left: Candidate[] = [];

  constructor(budgets: Budgets, context: GateContext) {
    this.#budgets = budgets;
    this.#context = context;
  }

  consider(info: AssessedNode): void {
    const { shadow } = info;
    const version = versionFor(info);
    if (!shadow || version === undefined) return;
    const candidate = candidateOf(info, { shadow, version }, this.#context);
    const { finding, changesAt } = ownGate(info, candidate, this.#context);
    if (candidate) this.#note(candidate.group, changesAt);
    const kept = isCleanedUp(info, shadow) ? finding : (finding ?? CLEANING_UP);
    if (kept) this.#findings.set(info.node.uid, kept);
    else if (candidate) this.#enqueue(candidate);
  }

  /** Offers what is left of the budgets to each policy in its turn. */
  end(): Starts {
    for (const group of this.#context.groups.all) this.#offerTo(group);
    if (this.#own) this.#offer(this.#own);
    const unstarted = this.#explain();
    return {
      commands: this.#commands,
      starting: this.#starting,
      findings: this.#findings,
      changesAt: this.#changesAt,
      ...unstarted,
    };
  }

  #enqueue(candidate: Candidate): void {
    const { info, group, isAsked } = candidate;
    const ready = this.#ready.get(group);
    if (info.node.name === this.#context.settings.ownNode && !isAsked) this.#own = candidate;
    else if (ready) ready.push(candidate);
    else this.#ready.set(group, [candidate]);
  }

  /** A candidate that other nodes stop now stays stopped, whichever nodes start meanwhile. So only the others take a turn. */
  #offerTo(group: Group): void {
    const open: Candidate[] = [];
    for (const candidate of this.#ready.get(group) ?? []) {
      if (othersGate(candidate, this.#context).finding) this.#left.push(candidate);
      else open.push(candidate);
    }
    inTurn(open, group.zones, (candidate) => this.#offer(candidate));
  }

  /** @returns whether the candidate waits for a place, and for nothing else */
  #offer(candidate: Candidate): boolean {
    const { info, version, group } = candidate;
    const isOpen = othersGate(candidate, this.#context).finding === undefined;
    const start = startOf(candidate, this.#context.now);
    if (isOpen && this.#budgets.take(info, group, start)) {
      group.releases.begin(info, version);
      this.#commands.push(start);
      this.#starting.add(group);
      return false;
    }
    this.#left.push(candidate);
    return isOpen;
  }

  /** Records why each remaining candidate does not start. All starts are known by now, so the next plan says the same. */
  #explain(): Pick<Starts, 'waiting' | 'isCapped'> {
    const waiting = new Set<Group>();
    const positions = new Map<Group, number>();
    let isCapped = false;
    for (const candidate of this.#left) {
      const { info, group } = candidate;
      const others = othersGate(candidate, this.#context);
      if (others.finding) {
        this.#say(candidate, others.finding, others.changesAt);
        if (isQueued(others.finding.reason)) waiting.add(group);
        continue;
      }
      const position = (positions.get(group) ?? 0) + 1;
      positions.set(group, position);
      const { finding, changesAt } = this.#budgets.refusal(info, group);
      this.#say(candidate, { ...finding, position }, changesAt);
      if (this.#budgets.isCapped(info, group)) isCapped = true;
      else waiting.add(group);
    }
    return { waiting, isCapped };
  }

  #say({ info, group }: Candidate, finding: Finding, changesAt: number): void {
    this.#findings.set(info.node.uid, finding);
    this.#note(group, changesAt);
  }

  #note(group: Group, changesAt: number): void {
    const isAhead = changesAt > this.#context.now && changesAt < NEVER;
    if (isAhead && changesAt < (this.#changesAt.get(group) ?? NEVER)) this.#changesAt.set(group, changesAt);
  }
}

/** The version that the node would start on; undefined where it has no agent, or is not back from its last update. */
function versionFor({ health, offered }: AssessedNode): string | undefined {
  return health.agentSilent || health.notReturned ? undefined : offered;
}

/** Nothing is left of its last update, and its last start is not in doubt. */
function isCleanedUp({ node, slot }: NodeInfo, shadow: ShadowView): boolean {
  return !shadow.stale && !node.marks && slot?.writes !== 'unknown';
}

/** The node does not wait for a slot of others: the controller has to clean up after its last update first. */
const CLEANING_UP = found('WaitingForSlot', 'what is left of its last update is being settled');

function termsOf({ info: { node }, version, group: { rules, view } }: Candidate): PermitTerms {
  const policy = { name: rules.name ?? '', uid: view.resource?.uid ?? '' };
  return { family: node.family, version, policy, zone: node.labels[rules.zones.key] };
}

function startOf(candidate: Candidate, now: number): Start {
  const {
    info: { node },
    shadow,
    version,
  } = candidate;
  return {
    kind: 'start',
    node: node.name,
    nodeUid: node.uid,
    shadow: shadow.name,
    resourceVersion: shadow.resourceVersion,
    spec: { state: 'StagedAndPerformedUpdate', version, state_transition_timestamp: rfc3339(now) },
    ...termsOf(candidate),
    ...(node.askedBy !== undefined && { askedBy: node.askedBy }),
    annotations: {
      ...(shadow.status && { [UPDATED_FROM_ANNOTATION]: shadow.status.current_version }),
      ...(shadow.hint && { [STAGE_ANNOTATION]: null }),
      ...shadow.order?.annotations,
    },
  };
}

/**
 * Offers a place to the candidates of one policy in their turn (rule P6):
 * 1. those that somebody has asked for,
 * 2. those with the fewest failures (`crash_count`),
 * 3. those of the zone that is being worked on or, where zones are not limited, of the zone with the fewest updates under way,
 * 4. the oldest node,
 * 5. by name.
 *
 * Nodes that start meanwhile, and those that wait for nothing but a place, count as updates under way.
 * @param candidates by name
 * @param offer returns whether the candidate waits for a place
 */
export function inTurn(candidates: readonly Candidate[], zones: Zones, offer: OfferPlace): void {
  const sorted = candidates.toSorted((a, b) => rankOf(a) - rankOf(b) || a.createdAt - b.createdAt);
  for (const alike of Map.groupBy(sorted, rankOf).values()) zoneByZone(alike, zones, offer);
}

const rankOf = ({ isAsked, crashes }: Candidate): number => (isAsked ? -1 : crashes);

type OfferPlace = (candidate: Candidate) => boolean;

/** The candidates of one zone. */
interface Queue {
  readonly zone: Zone;
  readonly all: readonly Candidate[];
  /** How many had their turn. */
  served: number;
  /** The next one. */
  head: Candidate;
  /** Those of the zone that wait for a place. */
  queued: number;
  /** Some nodes of the zone run the version that others of it wait for. */
  readonly isBegun: boolean;
}

function zoneByZone(candidates: readonly Candidate[], zones: Zones, offer: OfferPlace): void {
  const before = zones.isLimited ? byTurnOfZones : byFewest;
  const queues: Queue[] = [];
  for (const queue of queuesOf(candidates, zones)) insert(queues, queue, before);
  for (let queue = queues.pop(); queue; queue = queues.pop()) {
    if (offer(queue.head)) queue.queued += 1;
    queue.served += 1;
    const next = queue.all[queue.served];
    if (!next) continue;
    queue.head = next;
    insert(queues, queue, before);
  }
}

function queuesOf(candidates: readonly Candidate[], zones: Zones): Queue[] {
  return [...Map.groupBy(candidates, ({ info }) => zones.of(info.node))].flatMap(([zone, all]) => {
    const isBegun = zones.isLimited && all.some(({ info, version }) => zones.runs(zone, info.node.family, version));
    const [head] = all;
    return head ? { zone, all, served: 0, head, queued: 0, isBegun } : [];
  });
}

type Order = (a: Queue, b: Queue) => number;

/** Zones come one after the other: first those whose nodes take a part of the budget, then those where some run the release already, then by name. */
const byTurnOfZones: Order = (a, b) =>
  Number(b.zone.busy > 0) - Number(a.zone.busy > 0) ||
  Number(b.isBegun) - Number(a.isBegun) ||
  compare(a.zone.name ?? '', b.zone.name ?? '');

const byFewest: Order = (a, b) => a.zone.updating + a.queued - (b.zone.updating + b.queued) || byAge(a.head, b.head);

const byAge = (a: Candidate, b: Candidate): number =>
  a.createdAt - b.createdAt || compare(a.info.node.name, b.info.node.name);

/** Puts the queue into its place among the others, which are in order, the next one last. */
function insert(queues: Queue[], queue: Queue, before: Order): void {
  let low = 0;
  let high = queues.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = queues[middle];
    if (other && before(other, queue) > 0) low = middle + 1;
    else high = middle;
  }
  queues.splice(low, 0, queue);
}
