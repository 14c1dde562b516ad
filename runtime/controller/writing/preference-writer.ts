import { taintPatch, WAITING_TAINT } from '../../api/marks/taints.ts';
import type { nodesOf } from '../../kube/resources.ts';
import { type NodeWriter, nodeWriter, type NodeWriterPorts } from './node-writer.ts';

/** Of a fleet of 10,000, every node is tainted in four minutes at most, beside all other writes. */
const PACE_MS = 20;

interface PreferenceWriterOptions extends NodeWriterPorts {
  readonly nodes: Pick<ReturnType<typeof nodesOf>, 'get' | 'patch'>;
}

/** Puts the taint on nodes that new pods are to avoid, and takes it away (rule P14). */
export function preferenceWriter(options: PreferenceWriterOptions): NodeWriter {
  const { nodes } = options;
  return nodeWriter<boolean>({
    ...options,
    what: 'the taint of a node that waits',
    paceMs: PACE_MS,
    dueIn: ({ preferences }) => preferences.map(({ node, isAvoided: wanted }) => ({ node, wanted })),
    write: async (node, wanted, signal) => {
      const patch = taintPatch(node, WAITING_TAINT, wanted);
      if (patch) await nodes.patch(node.metadata.name, { ...patch, metadata: { ...patch.metadata } }, signal);
    },
  });
}
