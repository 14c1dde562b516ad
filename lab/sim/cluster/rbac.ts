import { BoundedMap } from '../../../runtime/lib/bounded-map.ts';
import { getOrInsert } from '../../../runtime/lib/maps.ts';
import { builtIn } from './core.ts';
import type { UserInfo } from './api.ts';
import { at, fields, type Fields, type KubeJson, list, text } from './object.ts';
import type { ResourcePath } from './path.ts';
import type { ResourceType } from './resources.ts';
import type { Store } from './store.ts';

/** What is asked for: a resource, or a path that names none. */
export type Attributes = { readonly verb: string } & (Omit<ResourcePath, 'version'> | { readonly path: string });

const ROLES = builtIn('roles');
const ROLE_BINDINGS = builtIn('rolebindings');
const CLUSTER_ROLES = builtIn('clusterroles');
const CLUSTER_ROLE_BINDINGS = builtIn('clusterrolebindings');

const MOST_KNOWN = 10_000;

/** Whether the roles that are applied at this moment allow it. */
export function allowed(store: Store, user: UserInfo, asked: Attributes): boolean {
  if (user.groups.includes('system:masters')) return true;
  const clusterWide = store.collection(CLUSTER_ROLE_BINDINGS).list();
  const namespace = 'path' in asked ? undefined : asked.namespace;
  const local = namespace === undefined ? [] : store.collection(ROLE_BINDINGS).list(namespace);
  return [...clusterWide, ...local].some(
    (binding) => binds(binding, user) && rules(store, binding).some((rule) => covers(rule, asked)),
  );
}

/** Remembers what was allowed, because clients ask for the same again and again, until a role or a binding changes. */
export class Rights {
  #known = new BoundedMap<string, boolean>(MOST_KNOWN);

  changed({ group }: Pick<ResourceType, 'group'>): void {
    if (group === ROLES.group) this.#known = new BoundedMap(MOST_KNOWN);
  }

  allow(store: Store, user: UserInfo, asked: Attributes): boolean {
    const key = JSON.stringify([user.username, user.groups, asked]);
    return getOrInsert(this.#known, key, () => allowed(store, user, asked));
  }
}

function binds(binding: KubeJson, user: UserInfo): boolean {
  return list(binding['subjects'])
    .map(fields)
    .some(({ kind, name, namespace }) => {
      if (kind === 'Group') return user.groups.includes(text(name));
      if (kind === 'User') return user.username === name;
      const home = text(namespace) || (binding.metadata.namespace ?? '');
      return kind === 'ServiceAccount' && user.username === `system:serviceaccount:${home}:${text(name)}`;
    });
}

function rules(store: Store, binding: KubeJson): readonly Fields[] {
  const name = text(at(binding, 'roleRef', 'name'));
  const { namespace } = binding.metadata;
  const local = at(binding, 'roleRef', 'kind') === 'Role';
  const role = local ? store.get({ type: ROLES, namespace, name }) : store.get({ type: CLUSTER_ROLES, name });
  return list(role?.['rules']).map(fields);
}

function covers(rule: Fields, asked: Attributes): boolean {
  if (!includes(rule['verbs'], asked.verb)) return false;
  if ('path' in asked) return list(rule['nonResourceURLs']).some((pattern) => coversPath(text(pattern), asked.path));
  const { group, plural, subresource, name } = asked;
  const wanted = subresource === undefined ? [plural] : [`${plural}/${subresource}`, `*/${subresource}`];
  const names = list(rule['resourceNames']);
  return (
    includes(rule['apiGroups'], group) &&
    wanted.some((one) => includes(rule['resources'], one)) &&
    (names.length === 0 || (name !== undefined && names.includes(name)))
  );
}

function includes(values: unknown, value: string): boolean {
  return list(values).includes(value) || list(values).includes('*');
}

function coversPath(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

/** The refusal in the API server's words, without what it is about. */
export function denial(user: UserInfo, asked: Attributes): string {
  const who = `User ${JSON.stringify(user.username)} cannot ${asked.verb}`;
  if ('path' in asked) return `${who} path ${JSON.stringify(asked.path)}`;
  const resource = asked.subresource === undefined ? asked.plural : `${asked.plural}/${asked.subresource}`;
  const where = asked.namespace === undefined ? 'at the cluster scope' : `in the namespace "${asked.namespace}"`;
  return `${who} resource "${resource}" in API group "${asked.group}" ${where}`;
}
