import { httpsTransport } from '../../../runtime/kube/https.ts';
import type { ClusterAccess } from '../../../runtime/kube/access.ts';
import type { Subject } from '../../../lab/sim/cluster/pki.ts';
import { applyAll, type Manifest } from '../../../lab/sim/world/manifests.ts';
import { POWER_LABEL } from './stages.ts';

export const KWOK: Subject = { commonName: 'kwok' };

/** As long as a kubelet's. */
const LEASE_SECONDS = 40;
const RBAC = 'rbac.authorization.k8s.io';

export function kwokArguments(kubeconfigFile: string, stagesFile: string): string[] {
  return [
    `--kubeconfig=${kubeconfigFile}`,
    `--config=${stagesFile}`,
    `--manage-nodes-with-label-selector=${POWER_LABEL}`,
    `--node-lease-duration-seconds=${LEASE_SECONDS}`,
  ];
}

/** Lets kwok do what it does in place of kubelets. @param access of a cluster administrator */
export async function admitKwok(access: ClusterAccess): Promise<void> {
  await applyAll(httpsTransport(access, { userAgent: 'controlplane' }), ACCESS);
}

const metadata = { name: KWOK.commonName };
const ACCESS: readonly Manifest[] = [
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRole',
    metadata,
    rules: [
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'patch'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] },
      { apiGroups: [''], resources: ['nodes/status', 'pods/status'], verbs: ['patch'] },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        verbs: ['get', 'list', 'watch', 'create', 'update'],
      },
    ],
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: KWOK.commonName },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: KWOK.commonName }],
  },
];
