/** What the embedded cluster serves. A resource that is not here, built in or by CRD, answers 404 as an API server would. */
export interface ResourceType {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
  readonly namespaced: boolean;
  readonly subresources?: readonly string[];
  /** Reviews and the like: POST answers at once and nothing is stored. */
  readonly virtual?: boolean;
}

type Row = readonly [kind: string, plural: string, namespaced: boolean, more?: Partial<ResourceType>];

const NAMESPACED = true;
const GLOBAL = false;

const BUILT_IN: Readonly<Record<string, readonly Row[]>> = {
  '/v1': [
    ['Namespace', 'namespaces', GLOBAL, { shortNames: ['ns'], subresources: ['status', 'finalize'] }],
    ['Node', 'nodes', GLOBAL, { shortNames: ['no'], subresources: ['status'] }],
    ['Pod', 'pods', NAMESPACED, { shortNames: ['po'], subresources: ['status', 'eviction', 'binding'] }],
    ['Service', 'services', NAMESPACED, { shortNames: ['svc'], subresources: ['status'] }],
    ['Endpoints', 'endpoints', NAMESPACED, { shortNames: ['ep'], singular: 'endpoints' }],
    ['ServiceAccount', 'serviceaccounts', NAMESPACED, { shortNames: ['sa'], subresources: ['token'] }],
    ['Secret', 'secrets', NAMESPACED],
    ['ConfigMap', 'configmaps', NAMESPACED, { shortNames: ['cm'] }],
    ['Event', 'events', NAMESPACED, { shortNames: ['ev'] }],
    ['PersistentVolumeClaim', 'persistentvolumeclaims', NAMESPACED, { shortNames: ['pvc'], subresources: ['status'] }],
    ['PersistentVolume', 'persistentvolumes', GLOBAL, { shortNames: ['pv'], subresources: ['status'] }],
  ],
  'apps/v1': [
    ['DaemonSet', 'daemonsets', NAMESPACED, { shortNames: ['ds'], subresources: ['status'] }],
    ['Deployment', 'deployments', NAMESPACED, { shortNames: ['deploy'], subresources: ['status', 'scale'] }],
    ['ReplicaSet', 'replicasets', NAMESPACED, { shortNames: ['rs'], subresources: ['status', 'scale'] }],
    ['StatefulSet', 'statefulsets', NAMESPACED, { shortNames: ['sts'], subresources: ['status', 'scale'] }],
  ],
  'batch/v1': [
    ['CronJob', 'cronjobs', NAMESPACED, { shortNames: ['cj'], subresources: ['status'] }],
    ['Job', 'jobs', NAMESPACED, { subresources: ['status'] }],
  ],
  'policy/v1': [
    ['PodDisruptionBudget', 'poddisruptionbudgets', NAMESPACED, { shortNames: ['pdb'], subresources: ['status'] }],
  ],
  'coordination.k8s.io/v1': [['Lease', 'leases', NAMESPACED]],
  'scheduling.k8s.io/v1': [['PriorityClass', 'priorityclasses', GLOBAL, { shortNames: ['pc'] }]],
  'networking.k8s.io/v1': [['NetworkPolicy', 'networkpolicies', NAMESPACED, { shortNames: ['netpol'] }]],
  'rbac.authorization.k8s.io/v1': [
    ['Role', 'roles', NAMESPACED],
    ['RoleBinding', 'rolebindings', NAMESPACED],
    ['ClusterRole', 'clusterroles', GLOBAL],
    ['ClusterRoleBinding', 'clusterrolebindings', GLOBAL],
  ],
  'apiextensions.k8s.io/v1': [
    [
      'CustomResourceDefinition',
      'customresourcedefinitions',
      GLOBAL,
      { shortNames: ['crd', 'crds'], subresources: ['status'] },
    ],
  ],
  'authentication.k8s.io/v1': [
    ['TokenReview', 'tokenreviews', GLOBAL, { virtual: true }],
    ['SelfSubjectReview', 'selfsubjectreviews', GLOBAL, { virtual: true }],
  ],
  'authorization.k8s.io/v1': [
    ['SubjectAccessReview', 'subjectaccessreviews', GLOBAL, { virtual: true }],
    ['SelfSubjectAccessReview', 'selfsubjectaccessreviews', GLOBAL, { virtual: true }],
  ],
};

function resource(groupVersion: string, [kind, plural, namespaced, more]: Row): ResourceType {
  const [version = '', group = ''] = groupVersion.split('/').toReversed();
  return { group, version, plural, kind, namespaced, singular: kind.toLowerCase(), ...more };
}

/** Every built-in resource type; those of CRDs are added while they are established. */
export const BUILT_IN_RESOURCES: readonly ResourceType[] = Object.entries(BUILT_IN).flatMap(([groupVersion, rows]) =>
  rows.map((row) => resource(groupVersion, row)),
);
