import type { Objects } from '../../../test/apiserver/objects.ts';

/** Pods as they are on real nodes: 17 KB each, half of it the `managedFields` of the controller that made it and of its kubelet. */

const CONTAINERS = ['app', 'proxy', 'metrics'];
const probe = (path: string): object => ({
  httpGet: { path, port: 8080, scheme: 'HTTP' },
  periodSeconds: 10,
  timeoutSeconds: 1,
  failureThreshold: 3,
  successThreshold: 1,
});

const SPEC = {
  containers: CONTAINERS.map((name) => ({
    name,
    image: `registry.example.com/team/${name}:1.2.3`,
    env: numbered(15, (index) => ({ name: `VARIABLE_NUMBER_${index}`, value: `some value of a variable ${index}` })),
    ports: [{ containerPort: 8080, name: 'http', protocol: 'TCP' }],
    resources: { limits: { cpu: '1', memory: '512Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    livenessProbe: probe('/healthz'),
    readinessProbe: probe('/readyz'),
    volumeMounts: numbered(4, (index) => ({
      mountPath: `/var/lib/thing-${index}`,
      name: `volume-${index}`,
      readOnly: true,
    })),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
  })),
  volumes: numbered(4, (index) => ({
    name: `volume-${index}`,
    configMap: { name: `config-${index}`, defaultMode: 420 },
  })),
  tolerations: [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  ],
};

const SINCE = '2026-01-01T00:00:00Z';
const STATUS = {
  phase: 'Running',
  conditions: ['Ready', 'ContainersReady', 'Initialized', 'PodScheduled', 'PodReadyToStartContainers'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: SINCE,
  })),
  containerStatuses: CONTAINERS.map((name) => ({
    name,
    image: `registry.example.com/team/${name}:1.2.3`,
    imageID: `registry.example.com/team/${name}@sha256:${'a'.repeat(64)}`,
    containerID: `containerd://${'b'.repeat(64)}`,
    ready: true,
    restartCount: 0,
    started: true,
    state: { running: { startedAt: SINCE } },
  })),
};

const LABELS = { app: 'web', 'pod-template-hash': '5d4f8c7b9' };
const MANAGED_FIELDS = [
  managed('kube-controller-manager', { metadata: { labels: LABELS, ownerReferences: {} }, spec: SPEC }),
  { ...managed('kubelet', { status: STATUS }), subresource: 'status' },
];

function managed(manager: string, fields: object): object {
  const entry = { manager, operation: 'Update', apiVersion: 'v1', time: SINCE, fieldsType: 'FieldsV1' };
  return { ...entry, fieldsV1: fieldsOf(fields) };
}

/** As the API server names the fields that somebody has set. */
function fieldsOf(value: unknown): object {
  if (typeof value !== 'object' || value === null) return {};
  const items = Object.entries(value).map(([key, item]): [string, object] => {
    if (!Array.isArray(value)) return [`f:${key}`, fieldsOf(item)];
    const { name = key } = item as { readonly name?: string };
    return [`k:{"name":"${name}"}`, { '.': {}, ...fieldsOf(item) }];
  });
  return Object.fromEntries(items);
}

function numbered(count: number, make: (index: number) => object): readonly object[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

export async function addHeavyPod(objects: Objects, name: string, nodeName: string): Promise<void> {
  const pods = '/api/v1/namespaces/shop/pods';
  await objects.create(pods, {
    metadata: { name, labels: LABELS, managedFields: MANAGED_FIELDS },
    spec: { ...SPEC, nodeName },
  });
  await objects.patch(`${pods}/${name}/status`, { status: STATUS });
}
