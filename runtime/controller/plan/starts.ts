import { rfc3339 } from '../../lib/clock.ts';
import { concurrency } from './amount.ts';
import type { Start } from './commands.ts';
import { type Gatekeeper, gate } from './gates.ts';
import { startable } from './machine.ts';
import { byTurn } from './order.ts';
import type { Assessed } from './releases.ts';
import type { ShadowView } from './snapshot.ts';
import type { Subject } from './subject.ts';
import type { Finding } from './verdict.ts';

export interface Starts {
  readonly commands: readonly Start[];
  /** By node name, what keeps a node with an offered update from starting. */
  readonly findings: ReadonlyMap<string, Finding & { readonly position?: number }>;
}

interface Candidate {
  readonly subject: Subject;
  readonly shadow: ShadowView;
  readonly version: string;
}

/**
 * Gives the free places to those whose turn it is.
 * @param managed nodes of the fleet
 * @param busy UIDs of nodes that take a place now
 */
export function chooseStarts(managed: readonly Assessed[], busy: ReadonlySet<string>, keeper: Gatekeeper): Starts {
  const capacity = concurrency(keeper.policy.maxConcurrent, managed.length);
  const taken = new Set(busy);
  const commands: Start[] = [];
  const findings = new Map<string, Finding & { readonly position?: number }>();
  let position = 0;
  for (const { subject, shadow, version } of candidates(managed, keeper.policy.ownNode)) {
    const { node } = subject;
    const finding = gate(subject, version, keeper);
    if (finding) findings.set(node.name, finding);
    else if (taken.size + Number(!taken.has(node.uid)) > capacity) {
      position += 1;
      findings.set(node.name, { reason: 'WaitingForSlot', message: 'other nodes are being updated', position });
    } else {
      taken.add(node.uid);
      keeper.releases.begin(node, version);
      commands.push(startOf(subject, shadow, { version, now: keeper.alarm.now }));
    }
  }
  return { commands, findings };
}

/** A node that is still being cleaned up, or whose last start is in doubt, is none yet. */
function candidates(managed: readonly Assessed[], ownNode: string): Candidate[] {
  const turn = byTurn(ownNode);
  const found: Candidate[] = [];
  for (const { subject, health } of managed) {
    const { shadow, node, slot } = subject;
    if (!shadow || shadow.stale || health.agentSilent || node.marks || slot?.writes === 'unknown') continue;
    const version = startable(shadow);
    if (version !== undefined) found.push({ subject, shadow, version });
  }
  return found.toSorted((a, b) => turn(a.subject, b.subject));
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
