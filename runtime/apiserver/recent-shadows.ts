import type { Collection } from '../kube/collection.ts';
import type { ShadowObject } from '../api/resources.ts';
import { BoundedMap } from '../lib/bounded-map.ts';
import type { Clock } from '../lib/clock.ts';
import { ownersOf } from '../api/shadow/owner.ts';

/** Requests of an agent come in bursts. */
const MAX_SHADOWS = 100;
/** More than a cluster has nodes; each entry is a UID. */
const MAX_OWNERS = 20_000;
/** A version is reused after the cluster was restored from a backup. */
const RECENT_MS = 10_000;

export interface Shadows extends Pick<Collection<ShadowObject>, 'get' | 'create' | 'patchStatus'> {
  /** The shadow of this name at a resourceVersion, or at any, where this replica has had it from the API server a moment ago. */
  recent(name: string, version?: string): ShadowObject | undefined;
  /** Whether the shadow of this name belonged to the Node with this UID when this replica last had it from the API server. */
  wasOf(name: string, nodeUid: string): boolean;
}

/** Shadows that remember what the API server last said of the newest of them. */
export function recentShadows(shadows: Omit<Shadows, 'recent' | 'wasOf'>, clock: Pick<Clock, 'monotonic'>): Shadows {
  const known = new BoundedMap<string, { readonly shadow: ShadowObject; readonly atMs: number }>(MAX_SHADOWS);
  const owners = new BoundedMap<string, readonly string[]>(MAX_OWNERS);
  const note = <T extends ShadowObject | undefined>(shadow: T): T => {
    if (!shadow) return shadow;
    known.set(shadow.metadata.name, { shadow, atMs: clock.monotonic() });
    owners.set(shadow.metadata.name, ownersOf(shadow));
    return shadow;
  };
  return {
    get: async (...args) => note(await shadows.get(...args)),
    create: async (...args) => note(await shadows.create(...args)),
    patchStatus: async (...args) => note(await shadows.patchStatus(...args)),
    recent: (name, version) => {
      const { shadow, atMs = -Infinity } = known.get(name) ?? {};
      const isIt = version === undefined || shadow?.metadata.resourceVersion === version;
      return isIt && clock.monotonic() - atMs < RECENT_MS ? shadow : undefined;
    },
    wasOf: (name, nodeUid) => owners.get(name)?.includes(nodeUid) ?? false,
  };
}
