import { NotFoundError } from '../../../kube/errors.ts';
import type { ShadowObject } from '../../../api/resources.ts';
import type { Node } from '../../../kube/objects.ts';
import { readMarks } from '../../../api/marks/marks.ts';
import { RELEASED_ANNOTATION } from '../../../api/marks/names.ts';
import { GROUP, nodeNameOf } from '../../../api/shadow/names.ts';
import type { Free } from '../../plan/facts/commands.ts';
import { mayBeAsked } from '../../plan/nodes/gone.ts';
import { isAtRest } from '../../plan/facts/phase.ts';
import type { PermitKey } from '../../plan/facts/permit.ts';
import { type ActionPorts, agentRuns, ownShadow } from './ports.ts';

/** On a shadow: changed so that no earlier write to it can land any more. */
export const BUMPED_ANNOTATION = `${GROUP}/bumped`;

/** Rule L4. A shadow that is gone counts as bumped: nothing can be written to it. */
export async function bump(ports: ActionPorts, { shadow, nodeUid }: PermitKey, signal: AbortSignal): Promise<'done'> {
  const bumped = await bumpShadow(ports, shadow, signal);
  ports.permitLedger.note(nodeUid, bumped ? 'settled' : 'gone');
  return 'done';
}

/** @returns the shadow after it; undefined where there is none */
export async function bumpShadow(
  { shadows, expectations }: Pick<ActionPorts, 'shadows' | 'expectations'>,
  shadow: string,
  signal: AbortSignal,
): Promise<ShadowObject | undefined> {
  const found = await shadows.get(shadow, signal);
  if (!found) return undefined;
  const { resourceVersion, annotations } = found.metadata;
  const patch = {
    metadata: { resourceVersion, annotations: { [BUMPED_ANNOTATION]: another(annotations?.[BUMPED_ANNOTATION]) } },
  };
  try {
    const bumped = await shadows.patch(shadow, patch, signal);
    expectations.written(shadow, bumped.metadata.resourceVersion);
    return bumped;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    return undefined;
  }
}

/** Steps 1 and 2 of rule L3: whether the permit may be given back now. Where the node is still there, it bears the mark of it then. */
export async function mayFree(ports: ActionPorts, permit: Free, signal: AbortSignal): Promise<boolean> {
  const name = nodeNameOf(permit.shadow) ?? '';
  if (!(await isOver(ports, permit, signal))) return false;
  const node = await ports.nodes.get(name, signal);
  if (node?.metadata.uid !== permit.nodeUid) return true;
  if (permit.because === 'node-gone' || readMarks(node)) return false;
  await markReleased(ports, node, signal);
  return true;
}

/** Step 1, as far as the caches cannot say it. */
async function isOver(ports: ActionPorts, permit: Free, signal: AbortSignal): Promise<boolean> {
  if (permit.isUnasked) return endsUnasked(ports, permit, signal);
  if (permit.because === 'shadow-gone') return isAbandoned(ports, permit, signal);
  if (permit.because === 'called-off') return isUntouched(ports, permit, signal);
  return permit.because !== 'idle' || !foundNone(ports, permit) || restsLive(ports, permit, signal);
}

/** The bump has found no shadow. So there is no version that would tell whether the view of the shadow is from before the update. */
const foundNone = ({ permitLedger }: ActionPorts, { nodeUid }: Free): boolean =>
  permitLedger.permits.some((permit) => permit.nodeUid === nodeUid && permit.writes === 'gone');

/**
 * Deletes the shadow of a node that is gone, if no reboot was requested: after that none can be, in this attempt. If one may have been requested,
 * it returns false, and the failure is entered in the ledger first.
 */
async function endsUnasked(ports: ActionPorts, permit: Free, signal: AbortSignal): Promise<boolean> {
  const shadow = await ownShadow(ports, permit, signal);
  if (!shadow || mayBeAsked({ rebootAskedAt: undefined }, shadow, permit.lastNode)) return false;
  const { uid, resourceVersion } = shadow;
  await ports.shadows.delete(permit.shadow, { uid, resourceVersion }, signal);
  return true;
}

async function restsLive(ports: ActionPorts, permit: Free, signal: AbortSignal): Promise<boolean> {
  const shadow = await ownShadow(ports, permit, signal);
  return shadow !== undefined && isAtRest(shadow);
}

/** Nothing has been asked of the node since its update was called off, and no drain is granted any more (M1). */
async function isUntouched(ports: ActionPorts, permit: Free, signal: AbortSignal): Promise<boolean> {
  const shadow = await ownShadow(ports, permit, signal);
  return shadow?.spec.state === 'Idle' && shadow.status?.reboot?.requested_at == null;
}

async function isAbandoned(ports: ActionPorts, permit: Free, signal: AbortSignal): Promise<boolean> {
  if (await ownShadow(ports, permit, signal)) return false;
  return !(await agentRuns(ports, nodeNameOf(permit.shadow) ?? '', signal));
}

/** After this write, a drain that has read the node before can only get 409. */
export async function markReleased(
  { nodes }: Pick<ActionPorts, 'nodes'>,
  node: Node,
  signal: AbortSignal,
): Promise<void> {
  await nodes.patch(node.metadata.name, releasedPatch(node), signal);
}

function releasedPatch({ metadata }: Node): {
  metadata: { resourceVersion: string; annotations: Record<string, string> };
} {
  const { resourceVersion, annotations } = metadata;
  return {
    metadata: { resourceVersion, annotations: { [RELEASED_ANNOTATION]: another(annotations?.[RELEASED_ANNOTATION]) } },
  };
}

/** A value that differs from the one before, so that the write changes something. */
function another(value: string | undefined): string {
  const count = Number(value ?? 0);
  return String(Number.isSafeInteger(count) ? count + 1 : 1);
}
