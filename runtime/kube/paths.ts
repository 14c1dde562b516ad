/** A kind of objects, and where its collection is served. */
export interface ResourcePath {
  /** Empty for the core group. */
  readonly group?: string;
  readonly version: string;
  readonly plural: string;
  /** Absent for objects without a namespace, and for a collection across all of them. */
  readonly namespace?: string | undefined;
}

/** e.g. `/apis/coordination.k8s.io/v1/namespaces/shop/leases`. */
export function collectionPath({ group, version, plural, namespace }: ResourcePath): string {
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`;
  return namespace === undefined ? `${root}/${plural}` : `${root}/namespaces/${segment(namespace)}/${plural}`;
}

/** One object of a collection, or a subresource of it. */
export function objectPath(collection: string, name: string, subresource?: string): string {
  return `${collection}/${segment(name)}${subresource === undefined ? '' : `/${subresource}`}`;
}

/** Names can come from outside (a header, an environment). An empty one or dots would address another object than the one meant. */
function segment(name: string): string {
  if (name === '' || name === '.' || name === '..')
    throw new RangeError(`no object can be called ${JSON.stringify(name)}`);
  return encodeURIComponent(name);
}
