import { rfc3339 } from '../../lib/clock.ts';
import type { Budget } from './budget.ts';
import type { Start } from './commands.ts';
import { type Gatekeeper, gate } from './gates.ts';
import type { AssessedNode } from './health.ts';
import { startable } from './machine.ts';
import { NEVER, nextAfter } from './requeue.ts';
import { compare, type NodeInfo, type ShadowView } from './snapshot.ts';
import { type Finding, found } from './verdict.ts';

export interface Starts {
  readonly commands: readonly Start[];
  /** By UID of the node, what keeps it from starting the update that it is offered. */
  readonly findings: ReadonlyMap<string, Finding>;
  /** Somebody could start but for the slots that others take, or for the proof that others owe. */
  readonly waiting: boolean;
  /** When time alone changes any of this. */
  readonly changesAt: number;
}

interface Candidate {
  readonly info: NodeInfo;
  readonly shadow: ShadowView;
  readonly version: string;
  /** The controller runs on it. */
  readonly isOwn: boolean;
  readonly crashes: number;
  /** It may start. If not, its last update is still being cleaned up, or its last start is in doubt. */
  readonly isReady: boolean;
}

/**
 * Gives what is left of the budget to those whose turn it is.
 * @param managed nodes of the fleet
 */
export function chooseStarts(managed: readonly AssessedNode[], budget: Budget, keeper: Gatekeeper): Starts {
  const commands: Start[] = [];
  const findings = new Map<string, Finding>();
  const changes: number[] = [];
  let position = 0;
  for (const { info, shadow, version, isReady } of candidates(managed, keeper.settings.ownNode)) {
    const { node } = info;
    const { finding, changesAt } = gate(info, version, keeper);
    if (changesAt !== NEVER) changes.push(changesAt);
    const kept = isReady ? finding : cleaningUp(finding);
    const queued = kept ? undefined : budget.take(node.uid);
    if (kept) findings.set(node.uid, kept);
    else if (queued) findings.set(node.uid, { ...queued, position: ++position });
    else {
      keeper.releases.begin(node, version);
      commands.push(startOf(info, shadow, { version, now: keeper.now }));
    }
  }
  const waiting = [...findings.values()].some((one) => one.reason === 'WaitingForSlot' && one !== CLEANING_UP);
  return { commands, findings, waiting, changesAt: nextAfter(keeper.now, [...changes, budget.changesAt]) };
}

/** Nodes with an update to start, in their turn. One without an agent, or not back from its last update, starts nothing. */
function candidates(managed: readonly AssessedNode[], ownNode: string): Candidate[] {
  const all: Candidate[] = [];
  for (const info of managed) {
    const { shadow, node, health } = info;
    const version = shadow && startable(shadow);
    if (!shadow || version === undefined || health.agentSilent || health.notReturned) continue;
    const crashes = shadow.status?.crash_count ?? 0;
    all.push({ info, shadow, version, isOwn: node.name === ownNode, crashes, isReady: isCleanedUp(info, shadow) });
  }
  return all.toSorted(startOrder);
}

function isCleanedUp({ node, slot }: NodeInfo, shadow: ShadowView): boolean {
  return !shadow.stale && !node.marks && slot?.writes !== 'unknown';
}

/**
 * Who starts first. The node that the controller runs on is last of all, because its drain interrupts the controller. Then those with the
 * fewest failures (`crash_count`) come first; then the name decides.
 */
function startOrder(a: Candidate, b: Candidate): number {
  return Number(a.isOwn) - Number(b.isOwn) || a.crashes - b.crashes || compare(a.info.node.name, b.info.node.name);
}

/** It does not wait for another node's slot, but for the controller to clean up after its own last update. */
const CLEANING_UP = found('WaitingForSlot', 'what is left of its last update is being settled');

/** Where people or time keep the node as well, that is the finding. */
const cleaningUp = (finding: Finding | undefined): Finding =>
  finding && finding.reason !== 'WaitingForSlot' ? finding : CLEANING_UP;

function startOf({ node }: NodeInfo, shadow: ShadowView, { version, now }: { version: string; now: number }): Start {
  return {
    kind: 'start',
    node: node.name,
    nodeUid: node.uid,
    shadow: shadow.name,
    resourceVersion: shadow.resourceVersion,
    spec: { state: 'StagedAndPerformedUpdate', version, state_transition_timestamp: rfc3339(now) },
  };
}
