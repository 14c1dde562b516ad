import { FRONT_PROXY, type Pki, SERVICES } from './pki.ts';

/** What the programs' command lines are made of. */
export interface Layout {
  readonly pki: Pki;
  /** Loopback ports. */
  readonly ports: { readonly api: number; readonly etcd: number; readonly etcdPeer: number };
  /** Folder of etcd's data. */
  readonly dataDir: string;
  readonly auditPolicyFile: string;
  readonly auditLogFile: string;
  /** Somebody sees to it that Services' addresses are reached from here. */
  readonly kubeProxy: boolean;
}

/** Requests that decide what happens to nodes are logged with their bodies; of the rest who, what and how it ended. */
export const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  omitManagedFields: true,
  rules: [
    { level: 'Metadata', verbs: ['get', 'list', 'watch'] },
    {
      level: 'RequestResponse',
      resources: [
        { group: '', resources: ['nodes', 'pods', 'pods/binding', 'pods/eviction', 'pods/status'] },
        { group: 'brupop.bottlerocket.aws' },
        { group: 'coordination.k8s.io' },
      ],
    },
    { level: 'Metadata' },
  ],
};

/** Where etcd answers clients. */
export function etcdUrl({ ports }: Pick<Layout, 'ports'>): string {
  return `http://127.0.0.1:${ports.etcd}`;
}

export function etcdArguments(layout: Layout): string[] {
  const peer = `http://127.0.0.1:${layout.ports.etcdPeer}`;
  return flags({
    name: 'etcd',
    'data-dir': layout.dataDir,
    'listen-client-urls': etcdUrl(layout),
    'advertise-client-urls': etcdUrl(layout),
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `etcd=${peer}`,
    // Nothing here outlives the run, so nothing has to reach the disk.
    'unsafe-no-fsync': 'true',
    'log-level': 'warn',
  });
}

export function apiserverArguments({ pki, ports, auditLogFile, auditPolicyFile, kubeProxy }: Layout): string[] {
  return flags({
    // Pods dial its Service's address; nobody outside of the network namespace reaches any.
    'bind-address': '0.0.0.0',
    'advertise-address': '127.0.0.1',
    'secure-port': String(ports.api),
    // That address is loopback, which Endpoints refuse.
    'endpoint-reconciler-type': 'none',
    'etcd-servers': etcdUrl({ ports }),
    'service-cluster-ip-range': SERVICES,
    'tls-cert-file': pki.apiserver.cert,
    'tls-private-key-file': pki.apiserver.key,
    'client-ca-file': pki.caFile,
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': pki.serviceAccounts.cert,
    'service-account-signing-key-file': pki.serviceAccounts.key,
    'authorization-mode': 'Node,RBAC',
    'enable-admission-plugins': 'NodeRestriction',
    'allow-privileged': 'true',
    // Without a kube-proxy webhooks are dialled at their endpoints' addresses, not at their Services'.
    'enable-aggregator-routing': String(!kubeProxy),
    'requestheader-client-ca-file': pki.caFile,
    'requestheader-allowed-names': FRONT_PROXY,
    'requestheader-username-headers': 'X-Remote-User',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
    'proxy-client-cert-file': pki.frontProxy.cert,
    'proxy-client-key-file': pki.frontProxy.key,
    'kubelet-client-certificate': pki.kubeletClient.cert,
    'kubelet-client-key': pki.kubeletClient.key,
    // Nobody resolves the nodes' names here.
    'kubelet-preferred-address-types': 'InternalIP',
    'audit-policy-file': auditPolicyFile,
    'audit-log-path': auditLogFile,
    // Megabytes: one file for the whole run.
    'audit-log-maxsize': '2000',
  });
}

export function controllerManagerArguments({ pki }: Layout, kubeconfigFile: string): string[] {
  return flags({
    kubeconfig: kubeconfigFile,
    'root-ca-file': pki.caFile,
    'service-account-private-key-file': pki.serviceAccounts.key,
    'use-service-account-credentials': 'true',
    'leader-elect': 'false',
    'secure-port': '0',
  });
}

export function schedulerArguments(kubeconfigFile: string): string[] {
  return flags({ kubeconfig: kubeconfigFile, 'leader-elect': 'false', 'secure-port': '0' });
}

function flags(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`);
}
