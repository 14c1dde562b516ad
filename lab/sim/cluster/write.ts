import { isDeepStrictEqual } from 'node:util';
import { admit } from './admission.ts';
import type { WriteOptions } from './candidate.ts';
import { type Core, inStorage, mustGet, NAMESPACES, oneInVersion } from './core.ts';
import { envelope, freshMeta, immutableFaults, revisedMeta } from './metadata.ts';
import { at, fields, type KubeJson, list, without } from './object.ts';
import type { ResourceType } from './resources.ts';
import { alreadyExists, badRequest, conflict, forbidden, invalid, notFound, type StatusError } from './status.ts';
import type { Ref } from './store.ts';

export interface Target extends Ref {
  readonly subresource?: string | undefined;
}

export interface Creation {
  readonly body: unknown;
  readonly options: WriteOptions;
}

/** The one kind that keeps the status it is created with: a kubelet registers its Node so. */
const NODE = 'Node';

/** Creates an object. @throws StatusError 400, 403, 404 (its namespace), 409, 422 */
export async function create(core: Core, target: Target, { body, options }: Creation): Promise<KubeJson> {
  const { type, namespace } = target;
  requireKind(core, type, body);
  const draft = envelope({ ...target, name: '' }, body);
  const metadata = freshMeta(core, type, draft.metadata);
  const ref = { type, namespace, name: metadata.name };
  requireNamespace(core, ref);
  const fresh = { ...(hasStatus(type) && type.kind !== NODE ? without(draft, 'status') : draft), metadata };
  const object = admit(core, { type, object: fresh }, options);
  const converted = inStorage(core, type, object);
  const stored = converted instanceof Promise ? await converted : converted;
  if (core.store.get(ref)) throw alreadyExists(ref);
  return options.dryRun ? object : oneInVersion(core, type, core.store.put(type, stored, core.cause));
}

/** Only types that the server has structures for may leave their kind to the path. */
function requireKind(core: Core, type: ResourceType, body: unknown): void {
  if (fields(body)['kind'] !== undefined || !core.registry.crd(type)) return;
  const found = JSON.stringify(body);
  throw badRequest(
    `the object provided is unrecognized (must be of type ${type.kind}): Object 'Kind' is missing in '${found}'`,
  );
}

function hasStatus(type: ResourceType): boolean {
  return type.subresources?.includes('status') ?? false;
}

/** Whether anything may be created there, subresources of what is there included. @throws StatusError 403, 404 */
export function requireNamespace(core: Core, ref: Ref): void {
  if (ref.namespace === undefined) return;
  const { metadata } = mustGet(core, { type: NAMESPACES, name: ref.namespace });
  if (metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${ref.namespace} because it is being terminated`;
  const message = `namespace ${ref.namespace} is being terminated`;
  throw forbidden(ref, why, [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }]);
}

export interface Edit {
  readonly options: WriteOptions;
  /** UID of the object that is meant, where the request as a whole names one. */
  readonly meant?: string | undefined;
  /** The object that is wanted, from the one that is. May be called again when somebody else wrote in between. */
  change(current: KubeJson): unknown;
}

/** As often as the API server tries a patch again that carries no resourceVersion. */
const ATTEMPTS = 5;

/** Changes an object, or its status. A write that changes nothing makes no new resourceVersion. @throws StatusError */
export async function update(core: Core, target: Target, edit: Edit): Promise<KubeJson> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const current = mustGet(core, target);
    const seen = oneInVersion(core, target.type, current);
    const shown = seen instanceof Promise ? await seen : seen;
    const object = revise(core, target, { shown, edit });
    const converted = inStorage(core, target.type, object);
    const stored = converted instanceof Promise ? await converted : converted;
    // Only a conversion lets others in between; then the change is made again, on what they wrote.
    if (core.store.get(target) !== current) continue;
    if (edit.options.dryRun) return object;
    return oneInVersion(core, target.type, commit(core, target.type, { current, stored }));
  }
  throw conflict(target);
}

function revise(core: Core, target: Target, { shown, edit }: { shown: KubeJson; edit: Edit }): KubeJson {
  const next = envelope(target, edit.change(shown));
  const { resourceVersion } = next.metadata;
  if (edit.meant && edit.meant !== shown.metadata.uid) throw anotherUid(target, edit.meant, shown.metadata.uid);
  if (resourceVersion && resourceVersion !== shown.metadata.resourceVersion) throw conflict(target);
  const faults = immutableFaults(shown.metadata, next.metadata);
  if (faults.length > 0) throw invalid(target, faults);
  const object = { ...scoped(target, { shown, next }), metadata: metadataOf(core, target, { shown, next }) };
  return admit(core, { type: target.type, object, before: shown, subresource: target.subresource }, edit.options);
}

function anotherUid(target: Target, meant: string, found: string): StatusError {
  return conflict(target, `Precondition failed: UID in precondition: ${meant}, UID in object meta: ${found}`);
}

interface Step {
  readonly shown: KubeJson;
  readonly next: KubeJson;
}

/** A write of the object leaves its status alone, and a write of the status everything else. */
function scoped({ type, subresource }: Target, { shown, next }: Step): KubeJson {
  if (subresource === 'status') return withStatus(shown, next['status']);
  return hasStatus(type) ? withStatus(next, shown['status']) : next;
}

function withStatus(object: KubeJson, status: unknown): KubeJson {
  return status === undefined ? without(object, 'status') : { ...object, status };
}

/** A status write of a custom resource changes no metadata; one of a built-in resource may set labels and annotations. */
function metadataOf(core: Core, { type, subresource }: Target, { shown, next }: Step): KubeJson['metadata'] {
  const wanted = subresource === 'status' && core.registry.crd(type) ? shown : next;
  return revisedMeta(shown.metadata, wanted.metadata);
}

/** Stores what changed; an object whose deletion only waited for its finalizers goes with the last of them. */
export function commit(core: Core, type: ResourceType, write: { current: KubeJson; stored: KubeJson }): KubeJson {
  const { current, stored } = write;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = stored.metadata;
  const held = finalizers.length > 0 || list(at(stored, 'spec', 'finalizers')).length > 0;
  if (deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && !held)
    return core.store.remove(type, stored, core.cause);
  return isDeepStrictEqual(stored, current) ? current : core.store.put(type, stored, core.cause);
}

const CREATED_BY_UPDATE = new Set([
  'leases',
  'endpoints',
  'events',
  'roles',
  'rolebindings',
  'clusterroles',
  'clusterrolebindings',
]);
const VERSION_REQUIRED = new Set(['leases', 'poddisruptionbudgets', 'customresourcedefinitions']);

/** PUT. Some types are created by it, and some insist on a resourceVersion. @throws StatusError */
export async function replace(
  core: Core,
  target: Target,
  creation: Creation,
): Promise<{ readonly object: KubeJson; readonly created: boolean }> {
  requireKind(core, target.type, creation.body);
  const draft = envelope(target, creation.body);
  const meant = draft.metadata.uid;
  if (!core.store.get(target)) {
    if (meant) throw anotherUid(target, meant, '');
    if (!CREATED_BY_UPDATE.has(target.type.plural)) throw notFound(target);
    return { object: await create(core, target, creation), created: true };
  }
  const edit: Edit = { options: creation.options, meant, change: () => versioned(core, target, draft) };
  return { object: await update(core, target, edit), created: false };
}

function versioned(core: Core, target: Target, draft: KubeJson): KubeJson {
  const required = VERSION_REQUIRED.has(target.type.plural) || core.registry.crd(target.type) !== undefined;
  if (!required || draft.metadata.resourceVersion) return draft;
  const message = 'Invalid value: 0x0: must be specified for an update';
  throw invalid(target, [{ reason: 'FieldValueInvalid', field: 'metadata.resourceVersion', message }]);
}
