import type { Collection, VersionedPatch } from '../../../kube/collection.ts';
import { hasChanged } from '../../../kube/errors.ts';
import type { ShadowObject } from '../../../api/resources.ts';
import type { Node, Pod } from '../../../kube/objects.ts';
import { onNode } from '../../../kube/resources.ts';
import type { Clock } from '../../../lib/clock.ts';
import { COMPONENT_LABEL, COMPONENTS } from '../../../api/shadow/names.ts';
import { belongsTo } from '../../../api/shadow/owner.ts';
import type { Expectations } from '../../seeing/expectations.ts';
import { type PermitLedger, PermitsMovedError } from '../../permits/ledger.ts';
import type { IsManaged } from '../../seeing/people.ts';
import { type AgentView, type ShadowFacts, viewOfAgent, viewOfShadow } from '../../seeing/views.ts';

/** What actions work with. Reads go to the API server, never to a cache. */
export interface ActionPorts {
  readonly shadows: Pick<Collection<ShadowObject>, 'get' | 'patch' | 'delete'>;
  readonly nodes: Pick<Collection<Node, VersionedPatch>, 'get' | 'patch'>;
  /** Of the operator's own namespace. */
  readonly pods: Pick<Collection<Pod>, 'list'>;
  readonly permitLedger: PermitLedger;
  readonly expectations: Expectations;
  readonly clock: Clock;
  /** Which nodes are managed besides those with Bottlerocket's API. */
  readonly manages: IsManaged;
}

/** `done`: written. `needless`: there was nothing left to write. `moved`: the state has changed since the command was decided on. */
export type Outcome = 'done' | 'needless' | 'moved';

/** Whether an error says that the state has changed since the command was decided on. */
export function isMoved(error: unknown): boolean {
  return hasChanged(error) || error instanceof PermitsMovedError;
}

/** Whether a container of the agent runs on the node, at this moment. */
export async function agentRuns(ports: Pick<ActionPorts, 'pods'>, node: string, signal: AbortSignal): Promise<boolean> {
  return (await agentsOn(ports, node, signal)).some(({ running }) => running);
}

/** The agents on the node, at this moment: one, or none, and two while one takes the other's place. */
export async function agentsOn(
  { pods }: Pick<ActionPorts, 'pods'>,
  node: string,
  signal: AbortSignal,
): Promise<readonly AgentView[]> {
  const labelSelector = `${COMPONENT_LABEL}=${COMPONENTS.agent}`;
  return (await pods.list({ labelSelector, fieldSelector: onNode(node) }, signal)).map(viewOfAgent);
}

/** The shadow that belongs to the node with this UID; undefined where there is none. */
export async function ownShadow(
  { shadows }: Pick<ActionPorts, 'shadows'>,
  { shadow, nodeUid }: { readonly shadow: string; readonly nodeUid: string },
  signal: AbortSignal,
): Promise<ShadowFacts | undefined> {
  const found = await shadows.get(shadow, signal);
  return found && belongsTo(found, nodeUid) ? viewOfShadow(found) : undefined;
}
