import { ConflictError } from '../../kube/errors.ts';
import { nodeFields } from '../node-fields.ts';
import type { Node } from '../../kube/objects.ts';
import { NODES_PATH } from '../../kube/resources.ts';
import { watchOne } from '../../kube/watch-one.ts';
import { readMarks } from '../../api/marks/marks.ts';
import type { NodePatch } from '../../api/marks/patches.ts';
import type { Ports } from '../ports.ts';
import type { Drain } from '../../drain/drain.ts';
import { nextVolumeStep, type VolumeTerms, volumesOf } from '../../drain/volumes.ts';
import { waitingForVolumes } from './events.ts';
import { type DrainPod, podName } from '../../drain/pod.ts';

/** What a node without pods to drain has to wait for. */
interface VolumeWait extends VolumeTerms {
  readonly drain: Pick<Drain, 'node' | 'id' | 'list'>;
  /** Its reason is thrown. */
  readonly signal: AbortSignal;
}

/**
 * Waits until the kubelet has unmounted what drained pods used. If the node reboots before that, its volumes stay attached for minutes, and
 * their pods cannot start elsewhere in that time.
 * @returns the volumes that are in use when the time is up, none where all are free; undefined after any wait: look at the node again
 */
export async function awaitVolumes(ports: Ports, wait: VolumeWait): Promise<readonly string[] | undefined> {
  const inUse = wait.timeoutMs === 0 ? [] : await volumesToLeave(ports, wait);
  const step = nextVolumeStep(inUse, wait, ports.clock.now());
  switch (step.kind) {
    case 'go':
      return step.inUse;
    case 'begin':
      return begin(ports, wait.drain.node, { inUse, patch: step.patch });
    case 'wait':
      return untilFree(ports, wait, { inUse, ms: step.ms });
    default:
      throw new TypeError(`no such step: ${JSON.stringify(step satisfies never)}`);
  }
}

async function begin(
  { nodes, events, logger }: Ports,
  node: Node,
  { inUse, patch }: { readonly inUse: readonly string[]; readonly patch: NodePatch },
): Promise<undefined> {
  const { name } = node.metadata;
  try {
    await nodes.patch(name, { ...patch });
  } catch (error) {
    if (error instanceof ConflictError) return;
    throw error;
  }
  logger.info('drain waits for volumes', { node: name, volumes: inUse });
  void events.record(node, waitingForVolumes(inUse));
}

/**
 * Waits until none of them is in use any more, the node is no longer this drain's, or the time is up. Rejects with the reason of its
 * signal.
 */
async function untilFree(
  ports: Ports,
  { drain: { node, id }, signal: given }: VolumeWait,
  { inUse, ms }: { readonly inUse: readonly string[]; readonly ms: number },
): Promise<undefined> {
  const { transport, clock, random } = ports;
  const end = new AbortController();
  const signal = AbortSignal.any([end.signal, given]);
  const free = async (): Promise<void> => {
    const { name } = node.metadata;
    for await (const now of watchOne<Node>(transport, {
      path: NODES_PATH,
      name,
      project: nodeFields,
      clock,
      random,
      signal,
    })) {
      if (!now || readMarks(now)?.id !== id || now.spec?.unschedulable !== true) return;
      if (!volumesOf(now).some((volume) => inUse.includes(volume))) return;
    }
  };
  try {
    await Promise.race([free(), clock.sleep(ms, signal)]);
  } finally {
    end.abort();
  }
}

/** The volumes that the kubelet has in use, without those of pods that stay. If those cannot be read, all are waited for. */
async function volumesToLeave(ports: Ports, { drain: { node, list } }: VolumeWait): Promise<readonly string[]> {
  const inUse = volumesOf(node);
  if (inUse.length === 0) return [];
  const { volumes, logger } = ports;
  const claims = new Map(list.staying.flatMap(claimsOf).map((claim) => [podName(claim), claim]));
  const names = await Promise.all([...claims.values()].map((claim) => volumes.uniqueName(claim))).catch(
    (error: unknown): void => logger.warn('volumes of pods that stay not read', { node: node.metadata.name, error }),
  );
  return inUse.filter((volume) => !names?.includes(volume));
}

function claimsOf({ namespace, claims }: DrainPod): readonly { readonly namespace: string; readonly name: string }[] {
  return claims.map((name) => ({ namespace, name }));
}
