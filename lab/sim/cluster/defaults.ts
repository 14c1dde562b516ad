import { type Core, builtIn } from './core.ts';
import { prepareBuiltIn } from './builtin.ts';
import { freshMeta } from './metadata.ts';
import type { KubeJson } from './object.ts';

const RBAC = 'rbac.authorization.k8s.io';
const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
const reading = ['get', 'list', 'watch'];
const reviews = (group: string, ...resources: string[]): object => ({
  apiGroups: [group],
  resources,
  verbs: ['create'],
});

/** The roles that a cluster has from its first moment, as far as they matter here. */
const CLUSTER_ROLES: Readonly<Record<string, readonly object[]>> = {
  'cluster-admin': [everything, { nonResourceURLs: ['*'], verbs: ['*'] }],
  'system:auth-delegator': [
    reviews('authentication.k8s.io', 'tokenreviews'),
    reviews('authorization.k8s.io', 'subjectaccessreviews'),
  ],
  'system:basic-user': [
    reviews('authorization.k8s.io', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews'),
    reviews('authentication.k8s.io', 'selfsubjectreviews'),
  ],
  'system:discovery': [
    {
      nonResourceURLs: [
        '/api',
        '/api/*',
        '/apis',
        '/apis/*',
        '/healthz',
        '/livez',
        '/openapi',
        '/openapi/*',
        '/readyz',
        '/version',
        '/version/',
      ],
      verbs: ['get'],
    },
  ],
  'system:public-info-viewer': [
    { nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'], verbs: ['get'] },
  ],
  view: [
    {
      apiGroups: [''],
      resources: [
        'configmaps',
        'endpoints',
        'events',
        'namespaces',
        'pods',
        'pods/status',
        'serviceaccounts',
        'services',
      ],
      verbs: reading,
    },
    { apiGroups: ['apps'], resources: ['daemonsets', 'deployments', 'replicasets'], verbs: reading },
    { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: reading },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: reading },
  ],
};

const CLUSTER_ROLE_BINDINGS: Readonly<Record<string, readonly string[]>> = {
  'cluster-admin': ['system:masters'],
  'system:basic-user': ['system:authenticated'],
  'system:discovery': ['system:authenticated'],
  'system:public-info-viewer': ['system:authenticated', 'system:unauthenticated'],
};

/** Puts what every cluster has into an empty one. */
export function seed(core: Core): void {
  for (const name of NAMESPACES) put(core, 'namespaces', { apiVersion: 'v1', kind: 'Namespace', name });
  const apiVersion = `${RBAC}/v1`;
  for (const [name, rules] of Object.entries(CLUSTER_ROLES)) {
    put(core, 'clusterroles', { apiVersion, kind: 'ClusterRole', name, rules });
  }
  for (const [name, groups] of Object.entries(CLUSTER_ROLE_BINDINGS)) {
    const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name };
    const subjects = groups.map((group) => ({ apiGroup: RBAC, kind: 'Group', name: group }));
    put(core, 'clusterrolebindings', { apiVersion, kind: 'ClusterRoleBinding', name, roleRef, subjects });
  }
}

function put(
  core: Core,
  plural: string,
  { name, ...rest }: { apiVersion: string; kind: string; name: string; [key: string]: unknown },
): void {
  const type = builtIn(plural);
  const metadata = freshMeta(core, type, { name, uid: '', resourceVersion: '' });
  const object: KubeJson = { ...rest, metadata };
  core.store.put(type, prepareBuiltIn(core, { type, object }));
}
