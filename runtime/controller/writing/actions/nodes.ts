import type { Node } from '../../../kube/objects.ts';
import type { NodePatch } from '../../../api/marks/patches.ts';
import {
  ADOPTED_ANNOTATION,
  MANAGED_LABEL,
  MANAGED_LABEL_VALUE,
  RETRY_ANNOTATION,
  UPDATE_NOW_ANNOTATION,
} from '../../../api/shadow/names.ts';
import type { ActionPorts, Outcome } from './ports.ts';

/**
 * Labels the node for updates. A node that has the label already, with any value, keeps it, because a person has decided. Either way the node
 * remembers the decision, so that a label that is taken away later stays away.
 */
export async function adopt({ nodes }: ActionPorts, nodeName: string, signal: AbortSignal): Promise<Outcome> {
  const node = await nodes.get(nodeName, signal);
  if (!node || node.metadata.annotations?.[ADOPTED_ANNOTATION] !== undefined) return 'needless';
  await nodes.patch(nodeName, adoption(node), signal);
  return 'done';
}

function adoption({ metadata: { resourceVersion, labels } }: Node): NodePatch {
  const isDecided = labels?.[MANAGED_LABEL] !== undefined;
  return {
    metadata: {
      resourceVersion,
      ...(!isDecided && { labels: { [MANAGED_LABEL]: MANAGED_LABEL_VALUE } }),
      annotations: { [ADOPTED_ANNOTATION]: isDecided ? 'found' : 'labelled' },
    },
  };
}

const REQUESTS = [UPDATE_NOW_ANNOTATION, RETRY_ANNOTATION];

/** Rule P9: removes the requests of people from the node. */
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
