import { NotFoundError, UnexpectedAnswerError } from './errors.ts';
import type { ResourcePath } from './paths.ts';
import type { KubeTransport } from './transport.ts';

/** The fields of discovery documents that are read: of a group, and of a version of it. */
interface ApiGroup {
  readonly kind?: string;
  readonly versions?: readonly { readonly version?: string }[];
}
interface ApiResourceList {
  readonly kind?: string;
  readonly resources?: readonly { readonly name?: string; readonly kind?: string; readonly namespaced?: boolean }[];
}

/**
 * Whether the API server lists this kind of the group. Only the group's own documents are proof that it does not: a request for a kind that is
 * not served gets a 404 in plain text, and any proxy on the way might send the same.
 * @throws as `KubeTransport.request`
 */
export async function isServed(
  transport: KubeTransport,
  { group = '', version, plural }: Pick<ResourcePath, 'group' | 'version' | 'plural'>,
  signal?: AbortSignal,
): Promise<boolean> {
  const read = (path: string): Promise<unknown> =>
    transport.request({ method: 'GET', path, ...(signal && { signal }) });
  const { kind, versions = [] } = (await read(`/apis/${group}`)) as ApiGroup;
  if (kind === 'APIGroup' && versions.every((one) => one.version !== version)) return false;
  const list = (await read(`/apis/${group}/${version}`)) as ApiResourceList;
  return list.kind !== 'APIResourceList' || (list.resources ?? []).some(({ name }) => name === plural);
}

interface Kind {
  /** e.g. `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
}

/** Where the objects of a kind are served, and whether they live in namespaces; undefined where nobody serves it. @throws as `KubeTransport.request` */
export async function resourceOfKind(
  transport: KubeTransport,
  { apiVersion, kind }: Kind,
  signal: AbortSignal,
): Promise<(Omit<ResourcePath, 'namespace'> & { readonly namespaced: boolean }) | undefined> {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  try {
    const { resources = [] } = (await transport.request({ method: 'GET', path, signal })) as ApiResourceList;
    const found = resources.find((one) => one.kind === kind && one.name !== undefined && !one.name.includes('/'));
    return found?.name === undefined
      ? undefined
      : { group, version, plural: found.name, namespaced: found.namespaced === true };
  } catch (error) {
    if (error instanceof NotFoundError || isPlain404(error)) return undefined;
    throw error;
  }
}

/** What is not served at all is answered in plain text. */
const isPlain404 = (error: unknown): boolean => error instanceof UnexpectedAnswerError && error.status.code === 404;
