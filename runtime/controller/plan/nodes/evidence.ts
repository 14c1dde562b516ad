import type { PhaseKind } from '../facts/phase.ts';
import type { NodeInfo } from '../facts/snapshot.ts';
import type { Finding } from '../facts/verdict.ts';

/** What the apiserver has seen of a node's pods. */

const DISTURBED: ReadonlySet<PhaseKind> = new Set<PhaseKind>(['draining', 'rebooting']);

/** The finding, with what its drain warned of when it began. */
export function withEvidence({ shadow, phase }: Pick<NodeInfo, 'shadow' | 'phase'>, finding: Finding): Finding {
  const lack = DISTURBED.has(phase.kind) ? shadow?.status?.no_room : undefined;
  return lack == null ? finding : { ...finding, message: `${finding.message}; NoRoom: ${lack}` };
}
