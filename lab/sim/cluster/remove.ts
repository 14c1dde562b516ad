import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { type Core, CRDS, NAMESPACES, PODS } from './core.ts';
import { tidy } from './metadata.ts';
import { at, fields, type KubeJson, withMeta } from './object.ts';
import { conflict } from './status.ts';
import type { Live } from './store.ts';
import { commit } from './write.ts';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: string | undefined;
  readonly preconditions?: { readonly uid: string | undefined; readonly resourceVersion: string | undefined };
  readonly dryRun: boolean;
}

/** The finalizer by which the deletion of a CRD waits for what it takes along. */
export const CRD_CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

/**
 * Deletes, or begins to: finalizers hold an object back, and a pod that is on a node goes when its kubelet says so, by a deletion
 * with grace period 0. Answers the object in its last or present state. @throws StatusError 409
 */
export function remove(core: Core, live: Live, options: DeleteOptions): KubeJson {
  checkPreconditions(live, options);
  const { type, object } = live;
  if (options.dryRun) return object;
  const grace = type === PODS ? podGrace(object, options) : 0;
  const waiting = object.metadata.deletionTimestamp !== undefined;
  // A grace period is only ever shortened.
  if (waiting && grace >= (object.metadata.deletionGracePeriodSeconds ?? 0) && grace > 0) return object;
  if (options.propagationPolicy === 'Orphan') orphan(core, object.metadata.uid);
  const until = core.clock.now() + grace * 1000;
  const ending = withMeta(object, {
    ...(waiting && grace === 0 ? {} : { deletionTimestamp: rfc3339(until) }),
    deletionGracePeriodSeconds: grace,
    ...held(live),
  });
  return commit(core, type, { current: object, stored: terminating(live, ending) });
}

function checkPreconditions({ type, object }: Live, { preconditions }: DeleteOptions): void {
  for (const [key, label] of [
    ['uid', 'UID'],
    ['resourceVersion', 'ResourceVersion'],
  ] as const) {
    const wanted = preconditions?.[key];
    const found = object.metadata[key];
    if (wanted === undefined || wanted === found) continue;
    const why = `Precondition failed: ${label} in precondition: ${wanted}, ${label} in object meta: ${found}`;
    throw conflict({ type, name: object.metadata.name }, why);
  }
}

/** Seconds that the pod has to end; 0 where no kubelet has it or it has ended. */
function podGrace(pod: KubeJson, { gracePeriodSeconds }: DeleteOptions): number {
  const phase = at(pod, 'status', 'phase');
  if (!at(pod, 'spec', 'nodeName') || phase === 'Succeeded' || phase === 'Failed') return 0;
  return Math.max(0, gracePeriodSeconds ?? Number(at(pod, 'spec', 'terminationGracePeriodSeconds') ?? 30));
}

/** The finalizers that this deletion itself adds. */
function held({ type, object }: Live): { finalizers?: readonly string[] } {
  const finalizers = [...new Set([...(object.metadata.finalizers ?? []), ...(type === CRDS ? [CRD_CLEANUP] : [])])];
  return finalizers.length > 0 ? { finalizers } : {};
}

function terminating({ type }: Live, object: KubeJson): KubeJson {
  if (type !== NAMESPACES) return object;
  return { ...object, status: { ...fields(object['status']), phase: 'Terminating' } };
}

/** Takes `uid` out of the owners of everything that names it. */
function orphan(core: Core, uid: string): void {
  for (const { type, object } of core.store.dependents(uid)) {
    const ownerReferences = (object.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
    core.store.put(type, { ...object, metadata: tidy({ ...object.metadata, ownerReferences }) }, core.cause);
  }
}
