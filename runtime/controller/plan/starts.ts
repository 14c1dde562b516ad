import { rfc3339 } from '../../lib/clock.ts';
import { concurrency } from './amount.ts';
import type { Start } from './commands.ts';
import { type Gatekeeper, gate } from './gates.ts';
import { startable } from './machine.ts';
import { byTurn } from './order.ts';
import type { Assessed } from './releases.ts';
import type { ShadowView } from './snapshot.ts';
import type { Subject } from './subject.ts';
import { type Finding, found } from './verdict.ts';

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
 * @param busy UIDs of nodes that take a place now
 */
export function chooseStarts(fleet: readonly Assessed[], busy: ReadonlySet<string>, keeper: Gatekeeper): Starts {
  const managed = fleet.filter(({ subject }) => subject.node.managed);
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
      findings.set(node.name, { ...found('WaitingForSlot', 'other nodes are being updated'), position });
    } else {
      taken.add(node.uid);
      keeper.releases.begin(node, version);
      commands.push(startOf(subject, shadow, { version, now: keeper.alarm.now }));
    }
  }
  return { commands, findings };
}

/** A node that is still being cleaned up, or whose last start is in doubt, is none yet. */
function candidates(fleet: readonly Assessed[], ownNode: string): Candidate[] {
  return fleet
    .flatMap(({ subject, health }) => {
      const { shadow, node, slot } = subject;
      if (!shadow || shadow.stale || health.agentSilent || node.marks || slot?.writes === 'unknown') return [];
      const version = startable(shadow);
      return version === undefined ? [] : [{ subject, shadow, version }];
    })
    .toSorted((a, b) => byTurn(ownNode)(a.subject, b.subject));
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
