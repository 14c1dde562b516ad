import { readMarks } from '../api/marks/marks.ts';
import { type NodePatch, volumesPatch } from '../api/marks/patches.ts';
import type { Node } from '../kube/objects.ts';
import { rfc3339 } from '../lib/clock.ts';
import type { Drain } from './drain.ts';

/** By what a drain waits for the volumes of the pods that it has evicted. */
export interface VolumeTerms {
  readonly drain: Pick<Drain, 'node' | 'id'>;
  /** How long one drain may wait for volumes, milliseconds; 0 = not at all. */
  readonly timeoutMs: number;
}

type VolumeStep =
  /** Go on: there is nothing to wait for, or the time is up and these volumes are still in use. */
  | { readonly kind: 'go'; readonly inUse: readonly string[] }
  /** This patch starts the time for which the drain may wait. */
  | { readonly kind: 'begin'; readonly patch: NodePatch }
  | { readonly kind: 'wait'; readonly ms: number };

/**
 * Every replica comes to the same step, because the time counts from what is written on the node. A time in the future comes from a clock
 * that is ahead, and is written again.
 */
export function nextVolumeStep(
  inUse: readonly string[],
  { drain: { node, id }, timeoutMs }: VolumeTerms,
  now: number,
): VolumeStep {
  if (inUse.length === 0) return { kind: 'go', inUse };
  const since = Date.parse(readMarks(node)?.volumesSince ?? '');
  if (Number.isNaN(since) || since > now) {
    const patch = volumesPatch(node, id, rfc3339(now));
    return patch ? { kind: 'begin', patch } : { kind: 'go', inUse };
  }
  const ms = since + timeoutMs - now;
  return ms > 0 ? { kind: 'wait', ms } : { kind: 'go', inUse };
}

/** Unique names of volumes that can be attached, from before they are mounted until they are unmounted. */
export function volumesOf({ status }: Node): readonly string[] {
  return status?.volumesInUse ?? [];
}
