import { isAskedFor } from '../facts/node.ts';
import type { Command } from '../facts/commands.ts';
import type { PhaseKind } from '../facts/phase.ts';
import { isRetried } from './blame.ts';
import type { AssessedNode } from './health.ts';

/**
 * Takes a request away from its node once the update has begun, or where there is none to begin (rule P9). A node with marks is left alone:
 * other writes to it come first. One that may try its drain again keeps that until the drain has begun.
 */
export function answeredRequests(unsettled: readonly AssessedNode[]): Command[] {
  const answered = unsettled.filter(({ node, shadow, offered, phase }) => {
    if (!isAskedFor(node) || node.marks || !shadow?.status || shadow.stale || phase.kind === 'returning') return false;
    if (phase.kind === 'resting') return offered === undefined;
    return !(AHEAD_OF_DRAIN.has(phase.kind) && isRetried(node, shadow.status));
  });
  return answered.map(({ node }) => ({ kind: 'forget', node: node.name }));
}

const AHEAD_OF_DRAIN: ReadonlySet<PhaseKind> = new Set<PhaseKind>(['staging', 'staged', 'asked']);
