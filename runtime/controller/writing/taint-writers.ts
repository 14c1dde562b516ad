import { taintPatch, untaintPatch, WAITING_TAINT } from '../../api/marks/taints.ts';
import type { NodePatch } from '../../api/marks/patches.ts';
import type { Node } from '../../kube/objects.ts';
import { type NodeWriter, nodeWriter, type NodeWriterOptions, type NodeWriterPorts } from './node-writer.ts';

/** Of a fleet of 10,000, every node is tainted in four minutes at most, beside all other writes. */
const PACE_MS = 20;

/** Puts the taint on nodes that new pods are to avoid, and takes it away (rule P14). */
export const preferenceWriter = (options: NodeWriterPorts): NodeWriter =>
  taintWriter(options, {
    what: 'the taint of a node that waits',
    paceMs: PACE_MS,
    dueIn: ({ preferences }) => preferences.map(({ node, isAvoided: wanted }) => ({ node, wanted })),
    patchOf: (node, wanted: boolean) => taintPatch(node, WAITING_TAINT, wanted),
  });

/** Takes away the taint of machines that have arrived (rule P16). @param keys of the taint */
export const arrivalWriter = (options: NodeWriterPorts, keys: readonly string[]): NodeWriter =>
  taintWriter(options, {
    what: 'the taint of a node that arrives',
    dueIn: ({ arrivals }) => arrivals.map((node) => ({ node, wanted: keys })),
    patchOf: (node, wanted: readonly string[]) => untaintPatch(node, wanted),
  });

interface TaintWrites<T> extends Pick<NodeWriterOptions<T>, 'what' | 'paceMs' | 'dueIn'> {
  readonly patchOf: (node: Node, wanted: T) => NodePatch | undefined;
}

function taintWriter<T>(options: NodeWriterPorts, { patchOf, ...writes }: TaintWrites<T>): NodeWriter {
  return nodeWriter<T>({
    ...options,
    ...writes,
    write: async (node, wanted, signal) => {
      const patch = patchOf(node, wanted);
      if (patch) await options.nodes.patch(node.metadata.name, { ...patch, metadata: { ...patch.metadata } }, signal);
    },
  });
}
