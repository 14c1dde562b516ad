import { isBlamed } from '../facts/phase.ts';
import { NEVER } from '../facts/requeue.ts';
import type { NodeInfo, Settings } from '../facts/snapshot.ts';
import type { AssessedNode } from '../nodes/health.ts';

/** How long a node may be away, milliseconds. */
export type Patience = Pick<Settings, 'returnTimeoutMs' | 'agentTimeoutMs'>;

interface Enough {
  readonly count: number;
  readonly soakMs: number;
  readonly now: number;
}

/** From when on so many of them have been well for long enough; -Infinity where they have by now. Of thousands it looks at no more than it needs. */
export function enoughWellFrom(infos: readonly AssessedNode[], { count, soakMs, now }: Enough): number {
  const ahead: number[] = [];
  let missing = count;
  for (const info of infos) {
    if (missing <= 0) break;
    const at = wellFrom(info, soakMs);
    if (at > now) ahead.push(at);
    else missing--;
  }
  return missing <= 0 ? -Infinity : (new Float64Array(ahead).toSorted()[missing - 1] ?? NEVER);
}

/** From when on a node that runs the release, and is at rest, has been well for long enough. */
export function wellFrom({ isSettled, node, silentSince, wellSince }: AssessedNode, soakMs: number): number {
  if (!isSettled && (!node.ready || silentSince !== undefined)) return NEVER;
  if (soakMs === 0) return -Infinity;
  return wellSince + soakMs;
}

/**
 * From when on a node counts as lost: it is not Ready, or its agent is silent, for as long as a reboot may take, and no reboot was asked for. A
 * node that was asked to reboot is waited for, and so is one that is back from it: either is a failure in the end (rule F1). A lost node starts
 * nothing either, so a silent agent has at least the time after which it is missed.
 */
export function lostAt({ node, silentSince, phase }: NodeInfo, patience: Patience): number {
  if (node.ready && silentSince === undefined) return NEVER;
  if (isBlamed(phase)) return NEVER;
  const { returnTimeoutMs, agentTimeoutMs } = patience;
  if (!node.ready) return node.readinessSeenAt + returnTimeoutMs;
  return Math.max(silentSince ?? NEVER, node.readinessSeenAt) + Math.max(returnTimeoutMs, agentTimeoutMs);
}
