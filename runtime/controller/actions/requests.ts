import type { NodePatch } from '../../marks/patches.ts';
import { RETRY_ANNOTATION, UPDATE_NOW_ANNOTATION } from '../../shadow/names.ts';
import type { ActionPorts, Outcome } from './ports.ts';

const REQUESTS = [UPDATE_NOW_ANNOTATION, RETRY_ANNOTATION];

/** Rule P9: takes away what somebody has asked for on the node. */
export async function forget({ nodes }: ActionPorts, nodeName: string, signal: AbortSignal): Promise<Outcome> {
  const node = await nodes.get(nodeName, signal);
  const { annotations, resourceVersion } = node?.metadata ?? {};
  const asked = REQUESTS.filter((name) => annotations?.[name] !== undefined);
  if (resourceVersion === undefined || asked.length === 0) return 'needless';
  const annotationsGone = Object.fromEntries(asked.map((name) => [name, null]));
  const patch: NodePatch = { metadata: { resourceVersion, annotations: annotationsGone } };
  await nodes.patch(nodeName, patch, signal);
  return 'done';
}
