import { rfc3339 } from '../../lib/clock.ts';
import type { Budgets } from './budgets.ts';
import type { Start } from './commands.ts';
import { type Candidate, candidateOf, type Gatekeeper, othersGate, ownGate } from './gates.ts';
import type { Group } from './groups.ts';
import type { AssessedNode } from './health.ts';
import { inTurn } from './order.ts';
import { NEVER } from './requeue.ts';
import type { NodeInfo, ShadowView } from './snapshot.ts';
import { type Finding, found, QUEUED } from './verdict.ts';

export interface Starts {
  readonly commands: readonly Start[];
  /** The policies whose nodes these are. */
  readonly starting: ReadonlySet<Group>;
  /** By the node's place among all, what keeps it from starting the update that it is offered. */
  readonly findings: readonly (Finding | undefined)[];
  /** Under which policies somebody could start but for what others take, or for the proof that others owe. */
  readonly waiting: ReadonlySet<Group>;
  /** Somebody could start but for what others take, under whichever policy. */
  readonly isCapped: boolean;
  /** When time alone changes any of this for the nodes of a policy. */
  readonly changesAt: ReadonlyMap<Group, number>;
}

/** Gives what is left of the budgets to those whose turn it is. @param managed nodes of the fleet */
export function chooseStarts(managed: readonly AssessedNode[], budgets: Budgets, keeper: Gatekeeper): Starts {
  const round = new Round(managed.at(-1), budgets, keeper);
  for (const info of managed) round.consider(info);
  return round.end();
}

class Round {
  readonly #budgets: Budgets;
  readonly #keeper: Gatekeeper;
  readonly #commands: Start[] = [];
  readonly #starting = new Set<Group>();
  readonly #findings: (Finding | undefined)[];
  readonly #changesAt = new Map<Group, number>();
  /** Those that only others keep from starting. */
  readonly #ready = new Map<Group, Candidate[]>();
  /** The node that the controller runs on: its drain interrupts the controller, so it is last of all. */
  #own: Candidate | undefined;
  /** Those that did not start, in their turn as far as they wait for a place. */
  readonly #left: Candidate[] = [];

  /** @param last by name of those that will be considered */
  constructor(last: AssessedNode | undefined, budgets: Budgets, keeper: Gatekeeper) {
    this.#findings = Array<undefined>((last?.at ?? -1) + 1).fill(undefined);
    this.#budgets = budgets;
    this.#keeper = keeper;
  }

  consider(info: AssessedNode): void {
    const { shadow } = info;
    const version = versionFor(info);
    if (!shadow || version === undefined) return;
    const candidate = candidateOf(info, { shadow, version }, this.#keeper);
    const { finding, changesAt } = ownGate(info, candidate, this.#keeper);
    if (candidate) this.#note(candidate.group, changesAt);
    const kept = isCleanedUp(info, shadow) ? finding : (finding ?? CLEANING_UP);
    if (kept) this.#findings[info.at] = kept;
    else if (candidate) this.#enqueue(candidate);
  }

  /** Policies come in their turn, and each offers what there is to its nodes in theirs. */
  end(): Starts {
    for (const group of this.#keeper.groups.all) this.#offerTo(group);
    if (this.#own) this.#offer(this.#own);
    const told = this.#tell();
    return {
      commands: this.#commands,
      starting: this.#starting,
      findings: this.#findings,
      changesAt: this.#changesAt,
      ...told,
    };
  }

  #enqueue(candidate: Candidate): void {
    const { info, group, isAsked } = candidate;
    const ready = this.#ready.get(group);
    if (info.node.name === this.#keeper.settings.ownNode && !isAsked) this.#own = candidate;
    else if (ready) ready.push(candidate);
    else this.#ready.set(group, [candidate]);
  }

  /** Whom others keep from starting already, they keep whoever starts meanwhile: only the others need a turn. */
  #offerTo(group: Group): void {
    const open: Candidate[] = [];
    for (const candidate of this.#ready.get(group) ?? []) {
      if (othersGate(candidate, this.#keeper).finding) this.#left.push(candidate);
      else open.push(candidate);
    }
    inTurn(open, group.zones, (candidate) => this.#offer(candidate));
  }

  /** @returns whether it waits for a place, and for nothing else */
  #offer(candidate: Candidate): boolean {
    const { info, version, group } = candidate;
    const isOpen = othersGate(candidate, this.#keeper).finding === undefined;
    if (isOpen && this.#budgets.take(info, group)) {
      group.releases.begin(info, version);
      this.#commands.push(startOf(candidate, this.#keeper.now));
      this.#starting.add(group);
      return false;
    }
    this.#left.push(candidate);
    return isOpen;
  }

  /** Says of those that were left what keeps them now that all starts are known: the next plan says the same. */
  #tell(): Pick<Starts, 'waiting' | 'isCapped'> {
    const waiting = new Set<Group>();
    const positions = new Map<Group, number>();
    let isCapped = false;
    for (const candidate of this.#left) {
      const { info, group } = candidate;
      const others = othersGate(candidate, this.#keeper);
      if (others.finding) {
        this.#say(candidate, others.finding, others.changesAt);
        if (QUEUED.has(others.finding.reason)) waiting.add(group);
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
    this.#findings[info.at] = finding;
    this.#note(group, changesAt);
  }

  #note(group: Group, changesAt: number): void {
    const isAhead = changesAt > this.#keeper.now && changesAt < NEVER;
    if (isAhead && changesAt < (this.#changesAt.get(group) ?? NEVER)) this.#changesAt.set(group, changesAt);
  }
}

/** What a node would start on. One without an agent, or not back from its last update, starts nothing. */
function versionFor({ health, offered }: AssessedNode): string | undefined {
  return health.agentSilent || health.notReturned ? undefined : offered;
}

/** Its last update has been cleaned up after, and its last start is not in doubt. */
function isCleanedUp({ node, slot }: NodeInfo, shadow: ShadowView): boolean {
  return !shadow.stale && !node.marks && slot?.writes !== 'unknown';
}

/** It does not wait for another node's slot, but for the controller to clean up after its own last update. */
const CLEANING_UP = found('WaitingForSlot', 'what is left of its last update is being settled');

function startOf({ info: { node }, shadow, version }: Candidate, now: number): Start {
  return {
    kind: 'start',
    node: node.name,
    nodeUid: node.uid,
    shadow: shadow.name,
    resourceVersion: shadow.resourceVersion,
    spec: { state: 'StagedAndPerformedUpdate', version, state_transition_timestamp: rfc3339(now) },
    ...(node.askedBy !== undefined && { askedBy: node.askedBy }),
    ...(shadow.told?.annotations && { annotations: shadow.told.annotations }),
  };
}
