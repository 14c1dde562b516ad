import { rfc3339 } from '../../lib/clock.ts';
import { readMarks } from '../../marks/marks.ts';
import { disownCordonPatch, type NodePatch, releasePatch } from '../../marks/patches.ts';
import { shadowName } from '../../shadow/names.ts';
import { isBackFromReboot } from '../plan/recovery.ts';
import { isIdle } from '../plan/subject.ts';
import { type ShadowFacts, viewOfNode } from '../views.ts';
import { agentRuns, ownShadow } from './live.ts';
import { type ActionPorts, writeSpec } from './ports.ts';

/**
 * Rule M8. In each case the Node is read first: whatever is seen after that holds for the Node that the patch is written on, or the patch
 * answers 409. All answer whether they did what there was to do.
 */

/** (a) and (b): marks at rest. */
export async function release(ports: ActionPorts, nodeName: string, signal: AbortSignal): Promise<boolean> {
  const node = await ports.nodes.get(nodeName, signal);
  if (!node || !readMarks(node)) return true;
  const shadow = await ownShadow(ports, { shadow: shadowName(nodeName), nodeUid: node.metadata.uid }, signal);
  const atRest = shadow ? isIdle(shadow) : !(await agentRuns(ports, nodeName, signal));
  return atRest && patchNode(ports, { nodeName, patch: releasePatch(node) }, signal);
}

/** (c): the agent is gone for good, as far as anybody can tell. */
export async function rescue(ports: ActionPorts, nodeName: string, signal: AbortSignal): Promise<boolean> {
  const node = await ports.nodes.get(nodeName, signal);
  if (!node || !viewOfNode(node).ready) return false;
  const shadow = await ownShadow(ports, { shadow: shadowName(nodeName), nodeUid: node.metadata.uid }, signal);
  if (!shadow || (await agentRuns(ports, nodeName, signal))) return false;
  await endUpdate(ports, { shadow, bootId: node.status?.nodeInfo?.bootID }, signal);
  return patchNode(ports, { nodeName, patch: releasePatch(node) }, signal);
}

/** No start, so no slot is needed: after it every drain is refused, and so is the record of a reboot. */
async function endUpdate(
  ports: ActionPorts,
  { shadow, bootId }: { readonly shadow: ShadowFacts; readonly bootId: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { name, resourceVersion, spec } = shadow;
  if (spec.state === 'Idle' || isBackFromReboot(bootId, shadow)) return;
  const idle = { ...spec, state: 'Idle', state_transition_timestamp: rfc3339(ports.clock.now()) } as const;
  await writeSpec(ports, { shadow: name, resourceVersion, spec: idle }, signal);
}

/** Rule M6. */
export async function disown(ports: ActionPorts, nodeName: string, signal: AbortSignal): Promise<boolean> {
  const node = await ports.nodes.get(nodeName, signal);
  return !node || patchNode(ports, { nodeName, patch: disownCordonPatch(node) }, signal);
}

interface NodeWrite {
  readonly nodeName: string;
  readonly patch: NodePatch | undefined;
}

async function patchNode({ nodes }: ActionPorts, { nodeName, patch }: NodeWrite, signal: AbortSignal): Promise<true> {
  if (patch) await nodes.patch(nodeName, { ...patch, metadata: { ...patch.metadata } }, signal);
  return true;
}
