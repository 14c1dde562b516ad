import { rfc3339 } from '../../../lib/clock.ts';
import { readMarks } from '../../../api/marks/marks.ts';
import { disownCordonPatch, type NodePatch, releasePatch } from '../../../api/marks/patches.ts';
import { nodeNameOf, shadowName } from '../../../api/shadow/names.ts';
import type { DeleteShadow } from '../../plan/facts/commands.ts';
import { isAtRest, type Phase, phaseOf } from '../../plan/facts/phase.ts';
import { type ShadowFacts, viewOfNode } from '../../seeing/views.ts';
import { type ActionPorts, agentRuns, type Outcome, ownShadow } from './ports.ts';
import { writeSpec } from './specs.ts';

/** Rule M8. The Node is read first. If it changes afterwards, its patch gets 409. So what is read later still holds when the patch is written. */

/** (a) and (b): marks at rest. */
export async function releaseNode(ports: ActionPorts, nodeName: string, signal: AbortSignal): Promise<Outcome> {
  const node = await ports.nodes.get(nodeName, signal);
  if (!node || !readMarks(node)) return 'needless';
  const shadow = await ownShadow(ports, { shadow: shadowName(nodeName), nodeUid: node.metadata.uid }, signal);
  const atRest = shadow ? isAtRest(shadow) : !(await agentRuns(ports, nodeName, signal));
  return atRest ? patchNode(ports, { nodeName, patch: releasePatch(node) }, signal) : 'moved';
}

/** (c): the agent is gone, and there is no sign that it will come back. */
export async function rescue(ports: ActionPorts, nodeName: string, signal: AbortSignal): Promise<Outcome> {
  const node = await ports.nodes.get(nodeName, signal);
  if (!node) return 'moved';
  const seen = viewOfNode(node);
  if (!seen.ready) return 'moved';
  const shadow = await ownShadow(ports, { shadow: shadowName(nodeName), nodeUid: node.metadata.uid }, signal);
  if (!shadow || (await agentRuns(ports, nodeName, signal))) return 'moved';
  const ended = await endUpdate(ports, { shadow, phase: phaseOf(shadow, seen) }, signal);
  const released = await patchNode(ports, { nodeName, patch: releasePatch(node) }, signal);
  return ended ? 'done' : released;
}

/**
 * This is no start, so it needs no permit. After it every drain is refused, and so is the record of a reboot. @returns whether there was
 * anything to end
 */
async function endUpdate(
  ports: ActionPorts,
  { shadow, phase }: { readonly shadow: ShadowFacts; readonly phase: Phase },
  signal: AbortSignal,
): Promise<boolean> {
  const { name, resourceVersion, spec } = shadow;
  if (spec.state === 'Idle' || phase.isBackOnRecord) return false;
  const idle = { ...spec, state: 'Idle', state_transition_timestamp: rfc3339(ports.clock.now()) } as const;
  await writeSpec(ports, { shadow: name, resourceVersion, spec: idle }, signal);
  return true;
}

/** The shadow of a node that is managed no more. Of a managed one it tells how its updates went, and the cache of nodes may be late. */
export async function deleteShadow(
  { nodes, shadows, manages }: ActionPorts,
  { shadow, uid, resourceVersion }: DeleteShadow,
  signal: AbortSignal,
): Promise<Outcome> {
  const node = await nodes.get(nodeNameOf(shadow) ?? '', signal);
  if (node && viewOfNode(node, undefined, manages).managed) return 'moved';
  await shadows.delete(shadow, { uid, resourceVersion }, signal);
  return 'done';
}

/** Rule M6. */
export async function disown(ports: ActionPorts, nodeName: string, signal: AbortSignal): Promise<Outcome> {
  const node = await ports.nodes.get(nodeName, signal);
  return patchNode(ports, { nodeName, patch: node && disownCordonPatch(node) }, signal);
}

async function patchNode(
  { nodes }: ActionPorts,
  { nodeName, patch }: { readonly nodeName: string; readonly patch: NodePatch | undefined },
  signal: AbortSignal,
): Promise<'done' | 'needless'> {
  if (!patch) return 'needless';
  await nodes.patch(nodeName, { ...patch, metadata: { ...patch.metadata } }, signal);
  return 'done';
}
