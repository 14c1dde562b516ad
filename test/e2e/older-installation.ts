import { APISERVER_SERVICE, COMPONENT_LABEL, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import type { Manifest } from '../../lab/sim/world/manifests.ts';
import { CRD_OF_V2 } from './older-crd.ts';
import { AGENT, APISERVER, CONTROLLER, inNamespace, labels, type Part } from './older-parts.ts';
import { olderWorkloads } from './older-workloads.ts';

/*
 * What an installation of the older implementation, v1.4, leaves in a cluster, as far as its public contract goes. Its pods are kept from
 * every node: its programs are not here, and kwok would have them seem to run.
 */

/** The user that an older apiserver acts as. */
export const OLDER_APISERVER = `system:serviceaccount:${NAMESPACE}:brupop-apiserver-service-account`;

function access({ component, account, rules }: Part): Manifest[] {
  const rbac = 'rbac.authorization.k8s.io';
  const role = `brupop-${account}-role`;
  const name = `brupop-${account}-service-account`;
  const subjects = [{ kind: 'ServiceAccount', name, namespace: NAMESPACE }];
  const binding = (bound: string, to: string): Manifest => ({
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: bound },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: to },
    subjects,
  });
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: inNamespace(name, component) },
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: role }, rules },
    binding(`${role}-binding`, role),
    ...(component === 'apiserver'
      ? [binding('brupop-apiserver-auth-delegator-role-binding', 'system:auth-delegator')]
      : []),
  ];
}

function certificates(): Manifest[] {
  const issuer = (name: string, spec: object): Manifest => ({
    apiVersion: 'cert-manager.io/v1',
    kind: 'Issuer',
    metadata: { name, namespace: NAMESPACE },
    spec,
  });
  const certificate = (name: string, signedBy: string, spec: object): Manifest => ({
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      privateKey: { algorithm: 'RSA', encoding: 'PKCS8' },
      issuerRef: { name: signedBy, kind: 'Issuer' },
      ...spec,
    },
  });
  const dnsNames = [`*.${NAMESPACE}.svc.cluster.local`, `*.${NAMESPACE}.svc`];
  const leaf = (name: string): Manifest =>
    certificate(name, 'brupop-root-certificate-issuer', { secretName: name, dnsNames });
  return [
    issuer('selfsigned-issuer', { selfSigned: {} }),
    certificate('brupop-selfsigned-ca', 'selfsigned-issuer', {
      isCA: true,
      commonName: 'brupop-selfsigned-ca',
      secretName: 'brupop-root-ca-secret',
    }),
    issuer('brupop-root-certificate-issuer', { ca: { secretName: 'brupop-root-ca-secret' } }),
    leaf('brupop-apiserver-certificate'),
    leaf('brupop-apiserver-client-certificate'),
  ];
}

function services(): Manifest[] {
  const service = (name: string, { component }: Part, ports: readonly object[]): Manifest => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: inNamespace(name, component),
    spec: { selector: { [COMPONENT_LABEL]: component }, ports },
  });
  return [
    service(APISERVER_SERVICE, APISERVER, [{ port: 443, targetPort: 8443 }]),
    service('brupop-controller-server', CONTROLLER, [{ port: 80, targetPort: 8080 }]),
  ];
}

/** Everything, for `kubectl apply`. cert-manager has to be there. */
export function olderInstallation(): readonly Manifest[] {
  const namespace = { name: NAMESPACE, labels: labels('brupop') };
  const priority = { name: 'brupop-controller-high-priority' };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: namespace },
    {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: priority,
      value: 1_000_000,
      preemptionPolicy: 'Never',
    },
    CRD_OF_V2,
    ...[AGENT, APISERVER, CONTROLLER].flatMap(access),
    ...certificates(),
    ...services(),
    ...olderWorkloads(),
  ];
}
