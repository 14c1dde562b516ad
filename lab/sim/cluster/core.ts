import type { Clock } from '../../../runtime/lib/clock.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import type { Cause } from './collection.ts';
import type { Bookmarks } from './bookmarks.ts';
import type { Converter } from './crd/conversion.ts';
import type { KubeJson } from './object.ts';
import type { Registry } from './registry.ts';
import { BUILT_IN_RESOURCES, type ResourceType } from './resources.ts';
import type { Ref, Store } from './store.ts';
import { noSuchPath, notFound } from './status.ts';

/** What every operation of the cluster works on. */
export interface Core {
  readonly clock: Clock;
  /** Since when what is created now is there, milliseconds since the Unix epoch. */
  readonly createdAt: (type: ResourceType) => number;
  readonly random: Random;
  readonly store: Store;
  readonly registry: Registry;
  readonly converter: Converter;
  readonly bookmarks: Bookmarks;
  /** What the writes of this operation are part of; undefined where nobody has asked for them. */
  readonly cause?: Cause;
}

/** The built-in resource of this name. */
export function builtIn(plural: string): ResourceType {
  const type = BUILT_IN_RESOURCES.find((candidate) => candidate.plural === plural);
  if (!type) throw noSuchPath();
  return type;
}

export const NAMESPACES = builtIn('namespaces');
export const PODS = builtIn('pods');
export const CRDS = builtIn('customresourcedefinitions');

/** @throws StatusError 404 */
export function mustGet(core: Core, ref: Ref): KubeJson {
  const object = core.store.get(ref);
  if (!object) throw notFound(ref);
  return object;
}

/** Stored objects in the version they are asked for. @throws StatusError 500 when a conversion webhook fails */
export function inVersion(
  core: Core,
  type: ResourceType,
  objects: readonly KubeJson[],
): readonly KubeJson[] | Promise<readonly KubeJson[]> {
  const crd = core.registry.crd(type);
  return crd ? core.converter.convert(crd, objects, type.version) : objects;
}

/** One object in the version it is asked for; at once unless a webhook has to convert it. @throws StatusError 500 */
export function oneInVersion(core: Core, type: ResourceType, object: KubeJson): KubeJson | Promise<KubeJson> {
  const converted = inVersion(core, type, [object]);
  const first = ([shown = object]: readonly KubeJson[]): KubeJson => shown;
  return converted instanceof Promise ? converted.then(first) : first(converted);
}

/** The object as it is stored; as `oneInVersion`. */
export function inStorage(core: Core, type: ResourceType, object: KubeJson): KubeJson | Promise<KubeJson> {
  const version = core.registry.crd(type)?.storage ?? type.version;
  return oneInVersion(core, { ...type, version }, object);
}
