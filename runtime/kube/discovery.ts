import type { ResourcePath } from './paths.ts';
import type { KubeTransport } from './transport.ts';

/** The fields of a discovery document that are read. */
interface ApiGroup {
  readonly kind?: string;
  readonly versions?: readonly { readonly version?: string }[];
}

/**
 * Whether the API server lists the version of a group that has other versions besides. Nothing but its own document says that it does not:
 * to a request for a kind that it does not have it answers 404 in plain text, as any proxy on the way might.
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
