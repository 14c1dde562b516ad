import type { ResourceType } from '../resources.ts';

const OBJECT_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const READ_WRITE = ['get', 'patch', 'update'];
const SUBRESOURCE_KINDS: Readonly<
  Record<string, { readonly group: string; readonly version: string; readonly kind: string }>
> = {
  binding: { group: '', version: 'v1', kind: 'Binding' },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction' },
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
};
const CREATE_ONLY = new Set(['binding', 'eviction', 'token']);

/**
 * Answers the paths by which a client finds out what is served: `/api`, `/apis` and what lies one or two levels below them, in the
 * plain (not aggregated) form.
 * @returns undefined for a path that is no discovery path, or a group or version that is not served
 */
export function discovery(path: string, resources: readonly ResourceType[]): unknown {
  const [root, ...rest] = path.replace(/^\/|\/$/gu, '').split('/');
  if (root === 'api') return core(rest, resources);
  return root === 'apis' ? named(rest, resources) : undefined;
}

function core(rest: readonly string[], resources: readonly ResourceType[]): unknown {
  const [version, ...more] = rest;
  if (version === undefined)
    return { kind: 'APIVersions', apiVersion: 'v1', versions: ['v1'], serverAddressByClientCIDRs: [] };
  return more.length === 0 ? resourceList('', version, resources) : undefined;
}

function named(rest: readonly string[], resources: readonly ResourceType[]): unknown {
  const [group, version, ...more] = rest;
  if (group === undefined) {
    const names = new Set(resources.map((resource) => resource.group).filter((name) => name !== ''));
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: [...names].map((name) => apiGroup(name, resources)) };
  }
  const served = group !== '' && resources.some((resource) => resource.group === group);
  if (!served || more.length > 0) return undefined;
  return version === undefined
    ? { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(group, resources) }
    : resourceList(group, version, resources);
}

function apiGroup(name: string, resources: readonly ResourceType[]): object {
  const names = resources.filter(({ group }) => group === name).map(({ version }) => version);
  const versions = [...new Set(names)]
    .toSorted(byPriority)
    .map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
}

/** Kubernetes prefers GA over beta over alpha, and within each the higher number. */
function byPriority(a: string, b: string): number {
  return rank(b) - rank(a) || a.localeCompare(b);
}

function rank(version: string): number {
  const match = /^v(?<major>\d+)(?:(?<stage>alpha|beta)(?<minor>\d+))?$/u.exec(version)?.groups;
  if (!match) return -1;
  const stage = { alpha: 0, beta: 1 }[match.stage ?? ''] ?? 2;
  return stage * 1e6 + Number(match.major) * 1e3 + Number(match.minor ?? 0);
}

function resourceList(group: string, version: string, resources: readonly ResourceType[]): unknown {
  const served = resources.filter((resource) => resource.group === group && resource.version === version);
  if (served.length === 0) return undefined;
  const groupVersion = group === '' ? version : `${group}/${version}`;
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: served.flatMap(rows) };
}

function rows(resource: ResourceType): readonly object[] {
  const { plural, singular, kind, namespaced, shortNames, virtual, subresources = [] } = resource;
  const verbs = virtual ? ['create'] : OBJECT_VERBS;
  const own = { name: plural, singularName: singular, namespaced, kind, verbs, ...(shortNames && { shortNames }) };
  return [own, ...subresources.map((name) => subresourceRow(resource, name))];
}

function subresourceRow({ plural, namespaced, kind }: ResourceType, name: string): object {
  return {
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    verbs: CREATE_ONLY.has(name) ? ['create'] : READ_WRITE,
    kind,
    ...SUBRESOURCE_KINDS[name],
  };
}
