import type { ClusterView } from '../seeing/caches.ts';
import { nodeInfos } from '../plan/nodes/join.ts';
import { bytesOf, LIST_BYTES } from '../plan/facts/permit.ts';
import type { NodeInfo } from '../plan/facts/snapshot.ts';
import type { Taking } from './entries.ts';

/**
 * Nodes on which an update is under way without a permit: an older operator has begun it, or its permit was lost. Where there is no room for all of
 * them, the others come once some have ended.
 * @param also UIDs of further nodes that are known to have one, though the view may not show it yet
 */
export function takeoversIn(view: ClusterView, also: ReadonlySet<string> = new Set()): readonly Taking[] {
  let room = LIST_BYTES - view.permits.reduce((sum, permit) => sum + bytesOf(permit), 0);
  const missing = nodeInfos(view).filter((info) => !info.permit && (also.has(info.node.uid) || isTakeover(info)));
  return missing.map(takingOf).filter((taking) => {
    room -= bytesOf(taking);
    return room >= 0;
  });
}

/** Without marks and without an agent it would lose its permit again at once, by L3 (d). */
function isTakeover({ node, shadow, silentSince }: NodeInfo): boolean {
  if (node.marks) return true;
  return shadow !== undefined && !shadow.stale && shadow.spec.state !== 'Idle' && silentSince === undefined;
}

function takingOf({ node, shadow }: NodeInfo): Taking {
  const { version } = shadow?.spec ?? {};
  const terms = { family: node.family, ...(version != null && { version }) };
  return { shadow: node.shadowName, nodeUid: node.uid, ...terms };
}
