import type { V1VolumeProjection } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../runtime/kube/objects.ts';
import { collectionPath, objectPath } from '../../../runtime/kube/paths.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import type { Manifest } from './manifests.ts';

const ACCOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const ROOT_CA = 'kube-root-ca.crt';
const VOLUME = 'kube-api-access';

/** @see https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-service-account-token-volume */
const SOURCES: readonly Json<V1VolumeProjection>[] = [
  { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
  { configMap: { name: ROOT_CA, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
];

/** The ConfigMap with the cluster's CA that a real control plane keeps in each namespace. */
export function rootCa(namespace: string, caPem: string): Manifest {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: ROOT_CA, namespace }, data: { 'ca.crt': caPem } };
}

/** The pod with the volume that a real API server's admission would have given it: the embedded cluster's gives none. */
export async function withAccountVolume(pod: Pod, transport: KubeTransport): Promise<Pod> {
  const { spec = {} } = pod;
  if (!(spec.automountServiceAccountToken ?? (await accountMounts(pod, transport)))) return pod;
  const containers = (spec.containers ?? []).map((container) => {
    const others = container.volumeMounts ?? [];
    return Object.assign({}, container, { volumeMounts: [...others, { name: VOLUME, mountPath: ACCOUNT_PATH }] });
  });
  const volumes = [...(spec.volumes ?? []), { name: VOLUME, projected: { sources: SOURCES } }];
  return { ...pod, spec: { ...spec, containers, volumes } };
}

async function accountMounts({ metadata, spec }: Pod, transport: KubeTransport): Promise<boolean> {
  const accounts = collectionPath({ version: 'v1', plural: 'serviceaccounts', namespace: metadata.namespace });
  const path = objectPath(accounts, spec?.serviceAccountName ?? 'default');
  const account = (await transport.request({ method: 'GET', path })) as { automountServiceAccountToken?: boolean };
  return account.automountServiceAccountToken ?? true;
}
