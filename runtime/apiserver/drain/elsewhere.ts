import { listPages } from '../../kube/collection.ts';
import { NODES_PATH } from '../../kube/nodes.ts';
import type { Node } from '../../kube/objects.ts';
import type { KubeTransport } from '../../kube/transport.ts';

/** Whether any node but `nodeName` is Ready and not cordoned. Reads only as many pages of nodes as it needs. */
export async function otherNodeTakesPods(
  transport: KubeTransport,
  nodeName: string,
  signal?: AbortSignal,
): Promise<boolean> {
  for await (const page of listPages<Node>(transport, { path: NODES_PATH, signal })) {
    if (page.items.some((node) => node.metadata.name !== nodeName && takesPods(node))) return true;
  }
  return false;
}

function takesPods({ spec, status }: Node): boolean {
  const ready = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
  return ready && spec?.unschedulable !== true;
}
