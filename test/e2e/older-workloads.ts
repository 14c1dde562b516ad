import { COMPONENT_LABEL, CONTROLLER_DEPLOYMENT, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import type { Manifest } from '../../lab/sim/world/manifests.ts';
import { AGENT, APISERVER, CONTROLLER, inNamespace, labels, type Part } from './older-parts.ts';

/* The workloads of an installation of the older implementation, v1.4. Their pods are kept from every node. */

interface Pod {
  /** Besides its name, image and command. */
  readonly container: object;
  readonly volumes?: readonly object[];
  readonly priorityClassName?: string;
}

const KEYS = 'bottlerocket-tls-keys';
const mount = (name: string, mountPath: string): object => ({ name, mountPath });
const keys = (secretName: string): object => ({ name: KEYS, secret: { secretName, optional: false } });
const hostPath = (name: string, path: string, type: string): object => ({ name, hostPath: { path, type } });
const own = (fieldPath: string): object => ({ valueFrom: { fieldRef: { fieldPath } } });
const PROBE = { httpGet: { path: '/ping', port: 8443, scheme: 'HTTPS' }, initialDelaySeconds: 5 };

const AGENT_POD: Pod = {
  container: {
    env: [
      { name: 'MY_NODE_NAME', ...own('spec.nodeName') },
      { name: 'EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC', value: '0' },
      { name: 'APISERVER_SERVICE_PORT', value: '443' },
    ],
    resources: { limits: { memory: '50Mi' }, requests: { cpu: '10m', memory: '50Mi' } },
    securityContext: { seLinuxOptions: { user: 'system_u', role: 'system_r', type: 'super_t', level: 's0' } },
    volumeMounts: [
      mount('bottlerocket-api-socket', '/run/api.sock'),
      mount('bottlerocket-apiclient', '/bin/apiclient'),
      mount('bottlerocket-agent-service-account-token', '/var/run/secrets/tokens/'),
      mount(KEYS, '/etc/brupop-tls-keys'),
    ],
  },
  volumes: [
    hostPath('bottlerocket-api-socket', '/run/api.sock', 'Socket'),
    hostPath('bottlerocket-apiclient', '/bin/apiclient', 'File'),
    keys('brupop-apiserver-client-certificate'),
    {
      name: 'bottlerocket-agent-service-account-token',
      projected: {
        sources: [
          {
            serviceAccountToken: {
              audience: 'brupop-apiserver',
              path: 'bottlerocket-agent-service-account-token',
            },
          },
        ],
      },
    },
  ],
};
const APISERVER_POD: Pod = {
  container: {
    env: [{ name: 'APISERVER_INTERNAL_PORT', value: '8443' }],
    ports: [{ containerPort: 8443 }],
    livenessProbe: PROBE,
    readinessProbe: PROBE,
    volumeMounts: [mount(KEYS, '/etc/brupop-tls-keys')],
  },
  volumes: [keys('brupop-apiserver-certificate')],
};
const CONTROLLER_POD: Pod = {
  container: {
    env: [
      { name: 'MY_NODE_NAME', ...own('spec.nodeName') },
      { name: 'MAX_CONCURRENT_UPDATE', value: '1' },
      { name: 'SCHEDULER_CRON_EXPRESSION', value: '* * * * * * *' },
    ],
  },
  priorityClassName: 'brupop-controller-high-priority',
};

function template({ component, account }: Part, { container, ...spec }: Pod): object {
  const image = 'example.com/older:1.4.0';
  return {
    metadata: { labels: labels(component), namespace: NAMESPACE },
    spec: {
      serviceAccountName: `brupop-${account}-service-account`,
      nodeSelector: { 'example.com/older-programs': 'none' },
      containers: [{ name: 'brupop', image, command: [`./${account}`], ...container }],
      ...spec,
    },
  };
}

/** DaemonSet and Deployments as they were applied. */
export function olderWorkloads(): readonly Manifest[] {
  const workload = (kind: string, name: string, part: Part, spec: object): Manifest => ({
    apiVersion: 'apps/v1',
    kind,
    metadata: inNamespace(name, part.component),
    spec: { selector: { matchLabels: { [COMPONENT_LABEL]: part.component } }, ...spec },
  });
  return [
    workload('DaemonSet', 'brupop-agent', AGENT, { template: template(AGENT, AGENT_POD) }),
    workload('Deployment', 'brupop-apiserver', APISERVER, {
      replicas: 3,
      strategy: { rollingUpdate: { maxUnavailable: '33%' } },
      template: template(APISERVER, APISERVER_POD),
    }),
    workload('Deployment', CONTROLLER_DEPLOYMENT, CONTROLLER, {
      replicas: 1,
      strategy: { type: 'Recreate' },
      template: template(CONTROLLER, CONTROLLER_POD),
    }),
  ];
}
