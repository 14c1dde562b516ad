import type { ResourcePath } from './paths.ts';
import type { KubeTransport } from './transport.ts';

/** The fields of a discovery document that are read. */
interface ApiGroup {
  readonly kind?: string;
  readonly versions?: readonly { readonly version?: string }[];
}

/**
 * Whether the API server lists this version of the group. Only the group's own document is proof that it does not: a request for a kind that is
 * not served gets a 404 in plain text, and any proxy on the way might send the same.
 * @throws as `KubeTransport.request`
 */
export async function isServed(
  transport: KubeTransport,
  { group = '', version }: Pick<ResourcePath, 'group' | 'version'>,
  signal?: AbortSignal,
): Promise<boolean> {
  const answer = await transport.request({ method: 'GET', path: `/apis/${group}`, ...(signal && { signal }) });
  const { kind, versions = [] } = answer as ApiGroup;
  return kind !== 'APIGroup' || versions.some((one) => one.version === version);
}
