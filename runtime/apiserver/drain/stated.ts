import type { Pod } from '../../kube/objects.ts';
import type { DrainProgress } from '../../shadow/model.ts';
import { type Blocked, nameOf } from './words.ts';

/**
 * By UID: why a pod could not be evicted, read back from what `progressOf` has made of it. A replica that has just come to a drain knows
 * no reasons of its own. Nothing stands in the way of a pod that is ending.
 */
export function statedReasons({ blocked_by }: Pick<DrainProgress, 'blocked_by'>, pods: readonly Pod[]): Blocked {
  const reasons = pods.flatMap((pod): [string, string][] => {
    const ending = ` (pod ${nameOf(pod)})`;
    const stated = blocked_by.find((text) => text.endsWith(ending));
    if (stated === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
    return [[pod.metadata.uid, stated.slice(0, -ending.length)]];
  });
  return new Map(reasons);
}
