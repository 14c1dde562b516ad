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
  const parts = path.split('/').slice(1).map(decoded);
  if (parts.at(-1) === '') parts.pop();
  const [root, ...rest] = parts;
  if (root === 'api') return inGroup('', rest);
  if (root === 'apis' && rest[0] !== undefined) return inGroup(rest[0], rest.slice(1));
  return undefined;
}

function decoded(part: string): string {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function inGroup(group: string, [version, ...rest]: readonly string[]): ResourcePath | undefined {
  if (version === undefined || rest.length === 0) return undefined;
  const [, namespace] = rest;
  const [plural, name, subresource, ...more] = isWithinNamespace(group, rest) ? rest.slice(2) : rest;
  if (plural === undefined || more.length > 0) return undefined;
  return { group, version, plural, name, subresource, ...(isWithinNamespace(group, rest) && { namespace }) };
}

/** `/namespaces/x` and its subresources are about the namespace itself; what has more parts is about something in it. */
function isWithinNamespace(group: string, [root, , next]: readonly string[]): boolean {
  if (root !== 'namespaces' || next === undefined) return false;
  return group !== '' || !['status', 'finalize'].includes(next);
}
