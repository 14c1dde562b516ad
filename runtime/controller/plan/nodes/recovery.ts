import type { Command, Free, NoteReboot } from '../facts/commands.ts';
import type { AssessedNode } from './health.ts';
import { isAtRest, isOverUnreported, isToldToDrain } from '../facts/phase.ts';
import type { PermitView } from '../facts/permit.ts';
import type { NodeInfo, NodeView, ShadowView } from '../facts/snapshot.ts';

/**
 * What the controller has to undo on a node because no agent will (rules M6 and M8): marks at rest, an update whose agent is gone, the shadow of a
 * node whose label was taken away, the claim to a cordon that was lifted.
 */
export function recover(info: AssessedNode): Command | undefined {
  const { node, shadow, silentSince } = info;
  if (shadow) return shadow.stale ? undefined : recoverWith(info, shadow);
  return node.marks && silentSince !== undefined ? releaseOf(node, node.shadowName) : undefined;
}

function recoverWith(info: AssessedNode, shadow: ShadowView): Command | undefined {
  const { node, phase, health } = info;
  // The shadow is all that tells of the reboot: without it the marks and the permit would be given back before the host goes down.
  if (!node.managed) return health.goesDown ? undefined : deletion(shadow);
  if (node.marks && phase.kind === 'resting') return releaseOf(node, shadow.name);
  if (health.agentSilent && needsRescue(info, shadow)) return { kind: 'rescue', node: node.name, shadow: shadow.name };
  return isDisowned(node) ? { kind: 'disown', node: node.name } : undefined;
}

function releaseOf(node: NodeView, shadow: string): Command {
  return { kind: 'release', node: node.name, shadow };
}

function deletion({ name, uid, resourceVersion }: ShadowView): Command {
  return { kind: 'delete-shadow', shadow: name, uid, resourceVersion };
}

/** Whether anything of an update is left to end on a node whose agent is gone. */
export function needsRescue({ node, phase }: Pick<NodeInfo, 'node' | 'phase'>, { spec }: ShadowView): boolean {
  return node.marks !== undefined || (spec.state !== 'Idle' && !phase.isBackOnRecord);
}

function isDisowned(node: NodeView): boolean {
  return node.marks?.owns.includes('cordon') === true && !node.unschedulable;
}

/** How a permit comes back (rules L3 and L4), or what is to be noted on it while its node needs it. @param holder undefined where the node is gone */
export function recoverPermit(permit: PermitView, holder: AssessedNode | undefined): Command | undefined {
  const { shadow, nodeUid, writes } = permit;
  if (!holder) return { kind: 'free', shadow, nodeUid, because: 'node-gone' };
  if (writes === 'unknown') return { kind: 'bump', shadow, nodeUid };
  const because = holder.node.marks ? undefined : over(holder);
  return because ? { kind: 'free', shadow, nodeUid, because } : noteFor(permit, holder);
}

/** Between two requests of one attempt its phase is one of those in which no reboot can have been requested yet. */
function noteFor(permit: PermitView, { shadow, phase }: AssessedNode): NoteReboot | undefined {
  const { nodeUid, rebootAskedAt: noted } = permit;
  if (!shadow || shadow.stale) return undefined;
  const note = { kind: 'note-reboot', shadow: shadow.name, nodeUid } as const;
  const isBefore = isToldToDrain(phase) || phase.kind === 'draining';
  const rebootAskedAt = isBefore ? undefined : (noted ?? shadow.rebootAskedAt);
  return rebootAskedAt === noted ? undefined : { ...note, rebootAskedAt };
}

function over(holder: AssessedNode): Free['because'] | undefined {
  const { shadow, silentSince, phase, health } = holder;
  if (!shadow) return silentSince === undefined ? undefined : 'shadow-gone';
  if (shadow.stale) return undefined;
  if (isAtRest(shadow)) return 'idle';
  if (health.isGivenBack) return 'called-off';
  // Without marks only the agent's last report is missing, and may never come.
  const isOver = isOverUnreported(phase) || shadow.spec.state === 'Idle';
  return health.agentSilent && isOver ? 'rescued' : undefined;
}
