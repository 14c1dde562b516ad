import type { KubeObject, Pod } from '../../kube/objects.ts';
import { joinParts } from '../../lib/parts.ts';
import type { DrainProgress } from '../../shadow/model.ts';

/** Enough to act on; a status must not grow with the node. */
const MAX_LISTED = 20;

/** By UID: why a pod could not be evicted at the last try. */
export type Blocked = ReadonlyMap<string, string>;

/** What `status.drain` says, in words that change only when the matter does. */
export function progressOf(since: string, pods: readonly Pod[], blocked: Blocked): DrainProgress {
  return { started_at: since, pods_left: pods.length, blocked_by: reasonsOf(pods, blocked).slice(0, MAX_LISTED) };
}

/** Of every pod that could not be evicted, why not. */
export function reasonsOf(pods: readonly Pod[], blocked: Blocked): readonly string[] {
  const reasons = pods.flatMap((pod) => {
    const why = blocked.get(pod.metadata.uid);
    return why === undefined ? [] : [`${why} (pod ${nameOf(pod)})`];
  });
  return reasons.toSorted();
}

/** Every pod that a drain could not get rid of, with its reason. Who has no room for all of them shortens it. */
export function describeLeft(pods: readonly Pod[], blocked: Blocked): string {
  return joinParts(pods.map((pod) => `${nameOf(pod)} (${whyLeft(pod, blocked)})`));
}

function whyLeft({ metadata }: Pod, blocked: Blocked): string {
  if (metadata.deletionTimestamp !== undefined) return `ending, due at ${metadata.deletionTimestamp}`;
  return blocked.get(metadata.uid) ?? 'not evicted yet';
}

/** e.g. `shop/web-1`. */
export function nameOf({ metadata: { namespace, name } }: Pick<KubeObject, 'metadata'>): string {
  return `${namespace}/${name}`;
}
