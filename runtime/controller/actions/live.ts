import { onNode } from '../../kube/resources.ts';
import { COMPONENT_LABEL, COMPONENTS } from '../../shadow/names.ts';
import { belongsTo } from '../../shadow/owner.ts';
import { type ShadowFacts, viewOfAgent, viewOfShadow } from '../views.ts';
import type { ActionPorts } from './ports.ts';

/** Looks at the API server before something is undone that another party may be relying on. */

/** Whether a container of the agent runs on the node, at this moment. */
export async function agentRuns(
  { pods }: Pick<ActionPorts, 'pods'>,
  node: string,
  signal: AbortSignal,
): Promise<boolean> {
  const labelSelector = `${COMPONENT_LABEL}=${COMPONENTS.agent}`;
  const found = await pods.list({ labelSelector, fieldSelector: onNode(node) }, signal);
  return found.map(viewOfAgent).some(({ running }) => running);
}

/** The shadow of this very node; undefined where there is none that belongs to it. */
export async function ownShadow(
  { shadows }: Pick<ActionPorts, 'shadows'>,
  { shadow, nodeUid }: { readonly shadow: string; readonly nodeUid: string },
  signal: AbortSignal,
): Promise<ShadowFacts | undefined> {
  const found = await shadows.get(shadow, signal);
  return found && belongsTo(found, nodeUid) ? viewOfShadow(found) : undefined;
}
