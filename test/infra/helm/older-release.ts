import { stringify } from 'yaml';

/**
 * The two charts of the older operator, as far as matters to who takes them over: names, selectors, and what its agents have that ours do
 * not. Their releases live in `default`, as its documents have it.
 */

const NAMESPACE = 'brupop-bottlerocket-aws';
const COMPONENT = 'brupop.bottlerocket.aws/component';

const chart = (name: string, objects: readonly object[]): Readonly<Record<string, string>> => ({
  'Chart.yaml': stringify({ apiVersion: 'v2', name, version: '1.0.0' }),
  'templates/all.yaml': objects.map((one) => stringify(one)).join('---\n'),
});

const preserved = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'bottlerocketshadows.brupop.bottlerocket.aws' },
  spec: {
    group: 'brupop.bottlerocket.aws',
    names: {
      kind: 'BottlerocketShadow',
      plural: 'bottlerocketshadows',
      singular: 'bottlerocketshadow',
      shortNames: ['brs'],
    },
    scope: 'Namespaced',
    versions: [{ name: 'v2', served: true, storage: true, schema: preserved, subresources: { status: {} } }],
  },
};

function workload(
  kind: string,
  name: string,
  component: string,
  container: object = {},
  volumes: readonly object[] = [],
) {
  const labels = { [COMPONENT]: component };
  const spec = {
    serviceAccountName: `brupop-${component.replace('brupop-', '')}-service-account`,
    containers: [{ name: 'brupop', image: 'older:1.4.0', ...container }],
    volumes,
  };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace: NAMESPACE, labels },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

const agent = workload(
  'DaemonSet',
  'brupop-agent',
  'agent',
  {
    resources: { limits: { cpu: '10m', memory: '50Mi' }, requests: { cpu: '10m', memory: '8Mi' } },
    volumeMounts: [
      { name: 'bottlerocket-apiclient', mountPath: '/bin/apiclient' },
      { name: 'bottlerocket-agent-service-account-token', mountPath: '/var/run/secrets/tokens/' },
    ],
  },
  [
    { name: 'bottlerocket-apiclient', hostPath: { path: '/bin/apiclient', type: 'File' } },
    { name: 'bottlerocket-agent-service-account-token', emptyDir: {} },
  ],
);

const operator = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
  ...['agent', 'apiserver', 'controller'].flatMap((component) => [
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: `brupop-${component}-service-account`, namespace: NAMESPACE },
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: `brupop-${component}-role` },
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'update', 'patch'] }],
    },
  ]),
  agent,
  workload('Deployment', 'brupop-apiserver', 'apiserver'),
  workload('Deployment', 'brupop-controller-deployment', 'brupop-controller'),
];

/** Files of each chart, by the name of its release. */
export const OLDER_CHARTS = {
  'brupop-crd': chart('bottlerocket-shadow', [definition]),
  'brupop-operator': chart('bottlerocket-update-operator', operator),
};
