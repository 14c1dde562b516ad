import { rfc3339 } from '../../lib/clock.ts';
import type { Start } from './commands.ts';
import { type Gatekeeper, gate } from './gates.ts';
import { startable } from './machine.ts';
import { byTurn } from './order.ts';
import type { Places } from './places.ts';
import type { Assessed } from './releases.ts';
import type { ShadowView } from './snapshot.ts';
import type { Subject } from './subject.ts';
import { type Finding, found } from './verdict.ts';

export interface Starts {
  readonly commands: readonly Start[];
  /** For each node of the fleet, in its order, what keeps it from starting the update that it is offered. */
  readonly findings: readonly (Finding | undefined)[];
  /** Somebody could start but for the places that others take, or for the proof that others owe. */
  readonly waiting: boolean;
}

interface Candidate {
  /** In the fleet. */
  readonly index: number;
  readonly subject: Subject;
  readonly shadow: ShadowView;
  readonly version: string;
  /** It may start; another is still being cleaned up, or its last start is in doubt. */
  readonly isReady: boolean;
}

/** It waits for nobody else. */
const SETTLING = found('WaitingForSlot', 'what is left of its last update is being settled');

/** People and time keep it besides. */
const settling = (finding: Finding | undefined): Finding =>
  finding && finding.reason !== 'WaitingForSlot' ? finding : SETTLING;

/**
 * Gives the free places to those whose turn it is.
 * @param managed nodes of the fleet
 */
export function chooseStarts(managed: readonly Assessed[], places: Places, keeper: Gatekeeper): Starts {
  const commands: Start[] = [];
  const findings = managed.map((): Finding | undefined => undefined);
  let position = 0;
  for (const { index, subject, shadow, version, isReady } of candidates(managed, keeper.policy.ownNode)) {
    const { node } = subject;
    const finding = gate(subject, version, keeper);
    const kept = isReady ? finding : settling(finding);
    const queued = kept ? undefined : places.take(node.uid);
    if (kept) findings[index] = kept;
    else if (queued) findings[index] = { ...queued, position: ++position };
    else {
      keeper.releases.begin(node, version);
      commands.push(startOf(subject, shadow, { version, now: keeper.alarm.now }));
    }
  }
  if (places.nextAt !== undefined) keeper.alarm.reached(places.nextAt);
  const waiting = findings.some((finding) => finding?.reason === 'WaitingForSlot' && finding !== SETTLING);
  return { commands, findings, waiting };
}

/** Nodes with an update to start, in their turn. One without an agent, or not back from its last update, starts nothing. */
function candidates(managed: readonly Assessed[], ownNode: string): Candidate[] {
  const turn = byTurn(ownNode);
  const all: Candidate[] = [];
  for (const [index, { subject, health }] of managed.entries()) {
    const { shadow, node, slot } = subject;
    const version = shadow && startable(shadow);
    if (!shadow || version === undefined || health.agentSilent || health.notReturned) continue;
    const isReady = !shadow.stale && !node.marks && slot?.writes !== 'unknown';
    all.push({ index, subject, shadow, version, isReady });
  }
  return all.toSorted((a, b) => turn(a.subject, b.subject));
}

function startOf({ node }: Subject, shadow: ShadowView, { version, now }: { version: string; now: number }): Start {
  return {
    kind: 'start',
    node: node.name,
    nodeUid: node.uid,
    shadow: shadow.name,
    resourceVersion: shadow.resourceVersion,
    spec: { state: 'StagedAndPerformedUpdate', version, state_transition_timestamp: rfc3339(now) },
  };
}
