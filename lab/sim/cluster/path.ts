/** A request path that names a resource. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** What the path names; undefined for discovery, health and whatever else is no resource. */
export function parsePath(path: string): ResourcePath | undefined {
  const parts = path.split('/');
  if (path.includes('%')) parts.forEach((part, index) => (parts[index] = decoded(part)));
  if (parts.at(-1) === '') parts.pop();
  const [, root, group] = parts;
  if (root === 'api') return inGroup('', parts.slice(2));
  if (root === 'apis' && group !== undefined) return inGroup(group, parts.slice(3));
  return undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function inGroup(group: string, [version, ...rest]: readonly string[]): ResourcePath | undefined {
  if (version === undefined || rest.length === 0) return undefined;
  const [, namespace] = rest;
  const within = isWithinNamespace(group, rest);
  const [plural, name, subresource, ...more] = within ? rest.slice(2) : rest;
  // What stands behind a proxy is somebody else's path.
  if (plural === undefined || (more.length > 0 && subresource !== 'proxy')) return undefined;
  const path = { group, version, plural, name, subresource };
  return within ? { ...path, namespace } : path;
}

/** `/namespaces/x` and its subresources are about the namespace itself; what has more parts is about something in it. */
function isWithinNamespace(group: string, [root, , next]: readonly string[]): boolean {
  if (root !== 'namespaces' || next === undefined) return false;
  return group !== '' || !['status', 'finalize'].includes(next);
}
