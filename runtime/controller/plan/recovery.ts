import type { Command, Free } from './commands.ts';
import type { AssessedNode } from './health.ts';
import { isBackFromReboot } from './machine.ts';
import { isIdle, type NodeView, type ShadowView, type SlotView } from './snapshot.ts';

/**
 * What the controller has to undo on a node because no agent will (rules M6 and M8): marks at rest, an update whose agent is gone, the shadow of a
 * node whose label was taken away, the claim to a cordon that was lifted.
 */
export function recover({ node, shadow, silentSince, health }: AssessedNode): Command | undefined {
  if (shadow) return shadow.stale ? undefined : recoverWith(node, shadow, health);
  return node.marks && silentSince !== undefined ? releaseOf(node, node.shadowName) : undefined;
}

function recoverWith(
  node: NodeView,
  shadow: ShadowView,
  { agentSilent, leaving }: AssessedNode['health'],
): Command | undefined {
  // The shadow is all that tells of the reboot: without it the marks and the slot would be given back before the host goes down.
  if (!node.managed) return leaving ? undefined : deletion(shadow);
  if (node.marks && isIdle(shadow)) return releaseOf(node, shadow.name);
  if (agentSilent && needsRescue(node, shadow)) return { kind: 'rescue', node: node.name, shadow: shadow.name };
  return isDisowned(node) ? { kind: 'disown', node: node.name } : undefined;
}

function releaseOf(node: NodeView, shadow: string): Command {
  return { kind: 'release', node: node.name, shadow };
}

function deletion({ name, uid, resourceVersion }: ShadowView): Command {
  return { kind: 'delete-shadow', shadow: name, uid, resourceVersion };
}

/** Whether anything of an update is left to end on a node whose agent is gone. */
export function needsRescue(node: NodeView, shadow: ShadowView): boolean {
  return node.marks !== undefined || (shadow.spec.state !== 'Idle' && !isBackFromReboot(node.bootId, shadow));
}

function isDisowned(node: NodeView): boolean {
  return node.marks?.owns.includes('cordon') === true && !node.unschedulable;
}

/** How a slot comes back (rules L3 and L4); undefined while its node needs it. @param holder undefined where the node is gone */
export function recoverSlot(
  { shadow, nodeUid, writes }: SlotView,
  holder: AssessedNode | undefined,
): Command | undefined {
  if (!holder) return { kind: 'free', shadow, nodeUid, because: 'node-gone' };
  if (writes === 'unknown') return { kind: 'bump', shadow, nodeUid };
  const because = holder.node.marks ? undefined : over(holder);
  return because && { kind: 'free', shadow, nodeUid, because };
}

function over(holder: AssessedNode): Free['because'] | undefined {
  const { shadow, silentSince } = holder;
  if (!shadow) return silentSince === undefined ? undefined : 'shadow-gone';
  if (shadow.stale) return undefined;
  if (isIdle(shadow)) return 'idle';
  return isRescued(holder, shadow) ? 'rescued' : undefined;
}

/** Only for a node without marks: only the agent's last report is missing, and may never come. So the update counts as over. */
function isRescued({ node, health }: AssessedNode, shadow: ShadowView): boolean {
  return health.agentSilent && (shadow.spec.state === 'Idle' || isBackFromReboot(node.bootId, shadow));
}
