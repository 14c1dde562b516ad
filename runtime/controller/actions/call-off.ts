import { readMarks } from '../../marks/marks.ts';
import type { CallOff } from '../plan/commands.ts';
import { isUndisturbed } from '../plan/machine.ts';
import { ownShadow } from './live.ts';
import type { ActionPorts, SpecWrite } from './ports.ts';

/**
 * The write that calls the update off (rule L8); undefined where the world has moved on. The Node is read first: a drain that is under way
 * shows on it, and one that begins after that changes the shadow, so that the write answers 409.
 */
export async function callOff(
  ports: ActionPorts,
  { node: nodeName, shadow, spec }: CallOff,
  signal: AbortSignal,
): Promise<SpecWrite | undefined> {
  const node = await ports.nodes.get(nodeName, signal);
  const live = node && (await ownShadow(ports, { shadow, nodeUid: node.metadata.uid }, signal));
  if (!live || !isUndisturbed(live, readMarks(node)) || (live.spec.version ?? null) !== spec.version) return undefined;
  return { shadow, resourceVersion: live.resourceVersion, spec };
}
