import { rfc3339 } from '../../../runtime/lib/clock.ts';
import type { Core } from './core.ts';
import { nameSuffix, uuid } from './ids.ts';
import { fields, type Fields, isFields, type KubeJson, list, type Meta, text, without } from './object.ts';
import type { ResourceType } from './resources.ts';
import { badRequest, type Cause, internal, invalidValue } from './status.ts';
import type { Ref } from './store.ts';

/** What a client may not change. */
const SERVER_OWNED = ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation'];
/** Absent and empty are the same to the API server. */
const OMITTED_WHEN_EMPTY = new Set(['labels', 'annotations', 'finalizers', 'ownerReferences', 'managedFields']);

/** Checks that a body is an object of this type for this path, and gives it the path's name and namespace. @throws StatusError 400 */
export function envelope(ref: Ref, body: unknown): KubeJson {
  if (!isFields(body)) throw badRequest('the body of the request must be a JSON object');
  const { type, namespace, name } = ref;
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
  expectSame(body['apiVersion'] ?? apiVersion, apiVersion, 'the API version in the data');
  expectSame(body['kind'] ?? type.kind, type.kind, 'the kind in the data');
  const metadata = fields(body['metadata']);
  expectPlace(ref, metadata);
  const place = { ...(name !== '' && { name }), namespace };
  const content = without(body, 'apiVersion', 'kind', 'metadata');
  const placed = namespace === undefined ? without({ ...metadata, ...place }, 'namespace') : { ...metadata, ...place };
  return { apiVersion, kind: type.kind, metadata: tidy(placed), ...content };
}

function expectPlace({ namespace, name }: Ref, metadata: Fields): void {
  // One that is sent for an object without a namespace is dropped.
  if (namespace !== undefined && ![undefined, namespace].includes(metadata['namespace'] as string | undefined)) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (name !== '' && metadata['name'] !== undefined && metadata['name'] !== name) {
    throw badRequest(`the name of the object (${text(metadata['name'])}) does not match the name on the URL (${name})`);
  }
}

function expectSame(found: unknown, expected: string, what: string): void {
  if (found !== expected) throw badRequest(`${what} (${text(found)}) does not match the expected one (${expected})`);
}

/** Metadata without what the API server does not keep. */
export function tidy(metadata: Fields): Meta {
  const dropped = Object.keys(metadata).filter((key) => {
    const value = metadata[key];
    return value === null || (OMITTED_WHEN_EMPTY.has(key) && isEmpty(value));
  });
  return (dropped.length === 0 ? metadata : without(metadata, ...dropped)) as Meta;
}

function isEmpty(value: unknown): boolean {
  return isFields(value) ? Object.keys(value).length === 0 : list(value).length === 0;
}

/** The metadata of a new object: named, with its identity and its first generation. @throws StatusError 500 */
export function freshMeta(core: Core, type: ResourceType, metadata: Meta): Meta {
  if (metadata.resourceVersion) throw internal('resourceVersion should not be set on objects to be created');
  const generated = metadata.generateName === undefined ? '' : `${metadata.generateName}${nameSuffix(core.random)}`;
  return {
    ...without(metadata, ...SERVER_OWNED, 'resourceVersion'),
    name: metadata.name || generated,
    uid: uuid(core.random),
    creationTimestamp: rfc3339(core.createdAt(type)),
    ...(hasGeneration(core, type) && { generation: 1 }),
  };
}

/** The metadata that an update leads to. `managedFields` stay where they are left out. */
export function revisedMeta(current: Meta, next: Meta): Meta {
  const revised: Record<string, unknown> = without(tidy(next), ...SERVER_OWNED);
  const kept = 'managedFields' in next ? SERVER_OWNED : [...SERVER_OWNED, 'managedFields'];
  for (const key of kept) if (current[key] !== undefined) revised[key] = current[key];
  return { ...(revised as Meta), resourceVersion: current.resourceVersion };
}

/** What is wrong with an update that names what belongs to the server; most of that is silently kept as it is. */
export function immutableFaults(current: Meta, next: Meta): readonly Cause[] {
  const held = current.deletionTimestamp === undefined ? (['uid', 'deletionTimestamp'] as const) : (['uid'] as const);
  return held
    .filter((key) => next[key] && next[key] !== current[key])
    .map((key) => invalidValue(`metadata.${key}`, next[key], 'field is immutable'));
}

const GENERATION_GROUPS = new Set(['apps', 'policy', 'networking.k8s.io', 'apiextensions.k8s.io']);

/** Whether the type counts changes of what is wanted. */
export function hasGeneration(core: Core, type: ResourceType): boolean {
  return type.kind === 'Pod' || GENERATION_GROUPS.has(type.group) || core.registry.crd(type) !== undefined;
}
