import { parse } from 'yaml';
import type { Impersonation } from '../kube/access.ts';
import { readable, readFiles } from '../kube/kubeconfig.ts';

type Named = { readonly name?: string } & Readonly<Record<string, unknown>>;
type File = { readonly 'current-context'?: string } & Readonly<Record<'contexts' | 'users', readonly Named[] | null>>;

/**
 * Whom the user of the context impersonates, with the groups, which client-node does not read.
 * @param paths as in KUBECONFIG; empty where there is no kubeconfig
 * @param context undefined for the current one
 * @throws AccessError
 */
export function impersonatedIn(paths: string, context: string | undefined): Impersonation | undefined {
  if (paths === '') return undefined;
  const files = readFiles(paths).map(({ path, text }) => readable(path, () => (parse(text) ?? {}) as File));
  const find = (list: 'contexts' | 'users', wanted: unknown) =>
    files.flatMap((file) => file[list] ?? []).find(({ name }) => name === wanted);
  const name = context ?? files.map((file) => file['current-context']).find(Boolean);
  const { user: called } = (find('contexts', name)?.['context'] ?? {}) as { readonly user?: string };
  const user = (find('users', called)?.['user'] ?? {}) as { readonly as?: string; readonly 'as-groups'?: string[] };
  return user.as === undefined ? undefined : { user: user.as, groups: user['as-groups'] ?? [] };
}
