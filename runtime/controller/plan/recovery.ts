import type { Command } from './commands.ts';
import type { Health } from './health.ts';
import type { NodeView, ShadowView } from './snapshot.ts';
import { isBackFromReboot } from './reboots.ts';
import { isActive, isIdle, type Subject } from './subject.ts';

/**
 * What has to be undone on a node because nobody else will: marks at rest, an update whose agent is gone, a label that was taken away, a
 * cordon that somebody lifted (rules M6 and M8).
 */
export function recover(subject: Subject, health: Health): Command | undefined {
  const { node, shadow, silentSince } = subject;
  if (shadow) return shadow.stale ? undefined : recoverWith(node, shadow, health);
  return node.marks && silentSince !== undefined ? releaseOf(node, node.shadowName) : undefined;
}

function recoverWith(node: NodeView, shadow: ShadowView, { agentSilent }: Health): Command | undefined {
  if (!node.managed) return deletion(shadow);
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

function needsRescue(node: NodeView, shadow: ShadowView): boolean {
  return node.marks !== undefined || (shadow.spec.state !== 'Idle' && !isBackFromReboot(node.bootId, shadow));
}

/** Of a node without marks: nothing of the update is left but the agent's last word, which may never come. It counts as over. */
export function isRescued({ node, shadow }: Subject, { agentSilent }: Health): boolean {
  if (!agentSilent || !shadow) return false;
  return shadow.spec.state === 'Idle' || isBackFromReboot(node.bootId, shadow);
}

function isDisowned(node: NodeView): boolean {
  return node.marks?.owns.includes('cordon') === true && !node.unschedulable;
}

/** Nothing goes on any more of its update, and nobody is there to go on: where it has no slot any more, it was rescued, whatever became of its node. */
export function isLeftOver({ node, shadow, silentSince }: Subject): boolean {
  if (node.marks || silentSince === undefined || !shadow || !isActive(shadow)) return false;
  return shadow.spec.state === 'Idle' || isBackFromReboot(node.bootId, shadow);
}

/** Whether an update takes up this node, whether or not it has a slot. */
export function isOccupied(subject: Subject): boolean {
  const { node, shadow } = subject;
  if (node.marks) return true;
  return shadow !== undefined && isActive(shadow) && !isLeftOver(subject);
}
