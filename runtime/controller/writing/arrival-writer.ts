import { untaintPatch } from '../../api/marks/taints.ts';
import type { nodesOf } from '../../kube/resources.ts';
import { type NodeWriter, nodeWriter, type NodeWriterPorts } from './node-writer.ts';

interface ArrivalWriterOptions extends NodeWriterPorts {
  readonly nodes: Pick<ReturnType<typeof nodesOf>, 'get' | 'patch'>;
  readonly config: { readonly ARRIVING_TAINT: string };
}

/** Takes away the taint of machines that have arrived (rule P16). */
export function arrivalWriter(options: ArrivalWriterOptions): NodeWriter {
  const { nodes, config } = options;
  return nodeWriter<string>({
    ...options,
    what: 'the taint of a node that arrives',
    dueIn: ({ arrivals }) => arrivals.map((node) => ({ node, wanted: config.ARRIVING_TAINT })),
    write: async (node, key, signal) => {
      const patch = untaintPatch(node, key);
      if (patch) await nodes.patch(node.metadata.name, { ...patch, metadata: { ...patch.metadata } }, signal);
    },
  });
}
