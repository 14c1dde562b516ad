import { rfc3339 } from '../../lib/clock.ts';
import type { Budgets } from './budgets.ts';
import type { Start } from './commands.ts';
import { type Gatekeeper, othersGate, ownGate } from './gates.ts';
import type { Group } from './groups.ts';
import type { AssessedNode } from './health.ts';
import { startable } from './machine.ts';
import { type Candidate, inTurn } from './order.ts';
import { NEVER } from './requeue.ts';
import type { NodeInfo, ShadowView } from './snapshot.ts';
import { type Finding, found, type GateResult, QUEUED, type Refusal } from './verdict.ts';

export interface Starts {
  readonly commands: readonly Start[];
  /** By UID of the node, what keeps it from starting the update that it is offered. */
  readonly findings: ReadonlyMap<string, Finding>;
  /** Under which policies somebody could start but for what others take, or for the proof that others owe. */
  readonly waiting: ReadonlySet<Group>;
  /** Somebody could start but for what others take, under whichever policy. */
  readonly isCapped: boolean;
  /** When time alone changes any of this for the nodes of a policy. */
  readonly changesAt: ReadonlyMap<Group, number>;
}

/** Gives what is left of the budgets to those whose turn it is. @param managed nodes of the fleet */
export function chooseStarts(managed: readonly AssessedNode[], budgets: Budgets, keeper: Gatekeeper): Starts {
  const round = new Round(budgets, keeper);
  for (const info of managed) round.consider(info);
  return round.end();
}

interface Waiting {
  readonly candidate: Candidate;
  readonly group: Group;
}

/** It was offered a place and did not start. */
interface Left extends Waiting {
  /** What the gate said then, after so many starts. */
  readonly others: GateResult;
  readonly starts: number;
}

class Round {
  readonly #budgets: Budgets;
  readonly #keeper: Gatekeeper;
  readonly #commands: Start[] = [];
  readonly #findings = new Map<string, Finding>();
  readonly #changesAt = new Map<Group, number>();
  /** Those that only others keep from starting. */
  readonly #ready = new Map<Group, Candidate[]>();
  /** The node that the controller runs on: its drain interrupts the controller, so it is last of all. */
  #own: Waiting | undefined;
  /** In their turn. */
  readonly #left: Left[] = [];

  constructor(budgets: Budgets, keeper: Gatekeeper) {
    this.#budgets = budgets;
    this.#keeper = keeper;
  }

  consider(info: AssessedNode): void {
    const candidate = candidateOf(info);
    if (!candidate) return;
    const { finding, changesAt } = ownGate(info, candidate.version, this.#keeper);
    const group = this.#keeper.groups.of(info);
    if (group) this.#note(group, changesAt);
    const kept = isCleanedUp(info, candidate.shadow) ? finding : (finding ?? CLEANING_UP);
    if (kept) this.#findings.set(info.node.uid, kept);
    else if (!group) return;
    else if (info.node.name === this.#keeper.settings.ownNode && !candidate.isAsked) this.#own = { candidate, group };
    else this.#enqueue({ candidate, group });
  }

  /** Policies come in their turn, and each offers what there is to its nodes in theirs. */
  end(): Starts {
    for (const group of this.#keeper.groups.all) {
      inTurn(this.#ready.get(group) ?? [], group.zones, (candidate) => this.#offer({ candidate, group }));
    }
    if (this.#own) this.#offer(this.#own);
    const told = this.#tell();
    return { commands: this.#commands, findings: this.#findings, changesAt: this.#changesAt, ...told };
  }

  #enqueue({ candidate, group }: Waiting): void {
    const ready = this.#ready.get(group);
    if (ready) ready.push(candidate);
    else this.#ready.set(group, [candidate]);
  }

  /** @returns whether it waits for a place, and for nothing else */
  #offer(waiting: Waiting): boolean {
    const { candidate, group } = waiting;
    const { info, version } = candidate;
    const others = othersGate(info, { version, group }, this.#keeper);
    const isKept = others.finding !== undefined;
    if (!isKept && this.#budgets.take(info, group)) {
      group.releases.begin(info, version);
      this.#commands.push(startOf(candidate, this.#keeper.now));
      return false;
    }
    this.#left.push({ candidate, group, others, starts: this.#commands.length });
    return !isKept;
  }

  /** Says of those that were left what keeps them now that all starts are known: the next plan says the same. */
  #tell(): Pick<Starts, 'waiting' | 'isCapped'> {
    const waiting = new Set<Group>();
    const positions = new Map<Group, number>();
    let isCapped = false;
    for (const { candidate, group, starts, ...left } of this.#left) {
      const { info, version } = candidate;
      const isLatest = starts === this.#commands.length;
      const others = isLatest ? left.others : othersGate(info, { version, group }, this.#keeper);
      if (others.finding) {
        this.#say(info, group, { finding: others.finding, changesAt: others.changesAt });
        if (QUEUED.has(others.finding.reason)) waiting.add(group);
        continue;
      }
      const position = (positions.get(group) ?? 0) + 1;
      positions.set(group, position);
      const { finding, changesAt } = this.#budgets.refusal(info, group);
      this.#say(info, group, { finding: { ...finding, position }, changesAt });
      if (this.#budgets.isCapped(info, group)) isCapped = true;
      else waiting.add(group);
    }
    return { waiting, isCapped };
  }

  #say({ node }: AssessedNode, group: Group, { finding, changesAt }: Refusal): void {
    this.#findings.set(node.uid, finding);
    this.#note(group, changesAt);
  }

  #note(group: Group, changesAt: number): void {
    const isAhead = changesAt > this.#keeper.now && changesAt < NEVER;
    if (isAhead && changesAt < (this.#changesAt.get(group) ?? NEVER)) this.#changesAt.set(group, changesAt);
  }
}

/** A node with an update to start. One without an agent, or not back from its last update, starts nothing. */
function candidateOf(info: AssessedNode): Candidate | undefined {
  const { node, shadow, health } = info;
  const version = shadow && startable(shadow);
  if (!shadow || version === undefined || health.agentSilent || health.notReturned) return undefined;
  const crashes = shadow.status?.crash_count ?? 0;
  return { info, shadow, version, crashes, isAsked: node.askedBy !== undefined, createdAt: node.createdAt };
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
