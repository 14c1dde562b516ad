import { taintPatch, untaintPatch, WAITING_TAINT } from '../../api/marks/taints.ts';
import type { NodePatch } from '../../api/marks/patches.ts';
import type { Node } from '../../kube/objects.ts';
import type { nodesOf } from '../../kube/resources.ts';
import { type NodeWriter, nodeWriter, type NodeWriterPorts } from './node-writer.ts';

interface TaintWriterOptions extends NodeWriterPorts {
  readonly nodes: Pick<ReturnType<typeof nodesOf>, 'get' | 'patch'>;
}

/** Of a fleet of 10,000, every node is tainted in four minutes at most, beside all other writes. */
const PACE_MS = 20;

/** Puts the taint on nodes that new pods are to avoid, and takes it away (rule P14). */
export const preferenceWriter = (options: TaintWriterOptions): NodeWriter =>
  nodeWriter<boolean>({
    ...options,
    what: 'the taint of a node that waits',
    paceMs: PACE_MS,
    dueIn: ({ preferences }) => preferences.map(({ node, isAvoided: wanted }) => ({ node, wanted })),
    write: (node, wanted, signal) => patched(options, node, taintPatch(node, WAITING_TAINT, wanted), signal),
  });

/** Takes away the taint of machines that have arrived (rule P16). @param key of the taint */
export const arrivalWriter = (options: TaintWriterOptions, key: string): NodeWriter =>
  nodeWriter<string>({
    ...options,
    what: 'the taint of a node that arrives',
    dueIn: ({ arrivals }) => arrivals.map((node) => ({ node, wanted: key })),
    write: (node, wanted, signal) => patched(options, node, untaintPatch(node, wanted), signal),
  });

async function patched(
  { nodes }: TaintWriterOptions,
  { metadata: { name } }: Node,
  patch: NodePatch | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (patch) await nodes.patch(name, { ...patch, metadata: { ...patch.metadata } }, signal);
}
