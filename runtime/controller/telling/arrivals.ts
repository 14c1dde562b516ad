import type { NodeView } from '../plan/facts/snapshot.ts';
import type { Planned, Statement } from './statements.ts';

/** Machines that have just joined, and take no pods before they are updated. Of each it is told once. */
export function arrivalStatements({ plan: { verdicts }, snapshot }: Planned): readonly Statement[] {
  const arriving = verdicts.filter(({ isArriving }) => isArriving);
  if (arriving.length === 0) return [];
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node]));
  return arriving.flatMap(({ node: name, policy }) => {
    const node = nodes.get(name);
    return node ? arrives(node, policy) : [];
  });
}

function arrives({ name, uid }: NodeView, policy: string | undefined): Statement {
  const event = {
    regarding: { apiVersion: 'v1', kind: 'Node', name, uid },
    type: 'Normal' as const,
    reason: 'Arriving',
    message: 'no pod comes before it is updated, or nothing is to come, for ten minutes at most',
    occasion: `arriving.${uid}`,
  };
  const about = { node: name, ...(policy !== undefined && { policy }) };
  return { kind: 'agent', of: `${uid} arriving`, value: 'arriving', event, isRecorded: true, isRepeated: true, about };
}
