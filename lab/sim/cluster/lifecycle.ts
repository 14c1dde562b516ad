import type { Change } from './collection.ts';
import { type Core, CRDS, NAMESPACES } from './core.ts';
import { parseCrd } from './crd/definition.ts';
import { type KubeJson, withMeta } from './object.ts';
import { CRD_CLEANUP, remove } from './remove.ts';
import type { ResourceType } from './resources.ts';
import type { Live } from './store.ts';
import { commit } from './write.ts';

/**
 * What follows from a write, within the same step: CRDs are served or not, dependents without an owner go, and what waited for
 * something to be gone goes after it. A real cluster's controllers do the same a moment later.
 */
export function follow(core: Core, type: ResourceType, change: Change): void {
  const { after, removed } = change;
  if (type.kind === 'CustomResourceDefinition') followCrd(core, change);
  if (removed) {
    core.store.dependents(after.metadata.uid).forEach((dependent) => collect(core, dependent));
    finishNamespace(core, after.metadata.namespace);
    finishCrd(core, type);
    return;
  }
  if (after.metadata.ownerReferences !== change.before?.metadata.ownerReferences)
    collect(core, { type, object: after });
  if (after.metadata.deletionTimestamp === undefined) return;
  if (type.kind === 'Namespace') empty(core, after);
}

/** Deletes an object whose owners are all gone, as the garbage collector does. An owner lives in the same namespace or in none. */
function collect(core: Core, { type, object }: Live): void {
  const { ownerReferences = [], namespace, deletionTimestamp } = object.metadata;
  if (ownerReferences.length === 0 || deletionTimestamp !== undefined) return;
  const owned = ownerReferences.some(({ uid }) => {
    const owner = core.store.byUid(uid)?.object.metadata;
    return owner !== undefined && (owner.namespace === undefined || owner.namespace === namespace);
  });
  if (!owned) remove(core, { type, object }, { dryRun: false });
}

/** Deletes all that is in a namespace that is going; pods end with their own grace. */
function empty(core: Core, namespace: KubeJson): void {
  const { name } = namespace.metadata;
  for (const live of content(core, name)) {
    const present = core.store.byUid(live.object.metadata.uid);
    if (present?.object.metadata.deletionTimestamp === undefined && present) remove(core, present, { dryRun: false });
  }
  finishNamespace(core, name);
}

function content(core: Core, namespace: string): readonly Live[] {
  const types = new Map(core.registry.types().map((type) => [`${type.group}/${type.plural}`, type]));
  return [...types.values()]
    .filter((type) => type.namespaced)
    .flatMap((type) =>
      core.store
        .collection(type)
        .list(namespace)
        .map((object) => ({ type, object })),
    );
}

function finishNamespace(core: Core, name: string | undefined): void {
  if (name === undefined) return;
  const namespace = core.store.get({ type: NAMESPACES, name });
  if (namespace?.metadata.deletionTimestamp === undefined || content(core, name).length > 0) return;
  commit(core, NAMESPACES, { current: namespace, stored: { ...namespace, spec: {} } });
}

function followCrd(core: Core, { after, removed }: Change): void {
  const crd = parseCrd(after);
  const type = crd.versions.get(crd.storage)?.type;
  if (!type) return;
  if (removed) {
    core.registry.delete(crd);
    core.store.drop(type);
    return;
  }
  core.registry.set(crd);
  if (after.metadata.deletionTimestamp === undefined) return;
  for (const object of core.store.collection(type).list()) {
    if (object.metadata.deletionTimestamp === undefined) remove(core, { type, object }, { dryRun: false });
  }
  finishCrd(core, type);
}

/** A CRD that is deleted goes after its last object. */
function finishCrd(core: Core, type: ResourceType): void {
  if (!core.registry.crd(type) || core.store.collection(type).list().length > 0) return;
  const object = core.store.get({ type: CRDS, name: `${type.plural}.${type.group}` });
  const { finalizers = [], deletionTimestamp } = object?.metadata ?? {};
  if (!object || deletionTimestamp === undefined || !finalizers.includes(CRD_CLEANUP)) return;
  const left = finalizers.filter((held) => held !== CRD_CLEANUP);
  commit(core, CRDS, { current: object, stored: withMeta(object, { finalizers: left }) });
}
