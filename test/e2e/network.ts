import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { collectionPath, objectPath } from '../../runtime/kube/paths.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { APISERVER_SERVICE, CONTROLLER_SERVICE, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { serveService } from '../../lab/sim/world/service.ts';
import { operatorService, type Service, ServiceEndpoints } from '../../lab/sim/world/service-endpoints.ts';
import type { RealCluster } from './cluster.ts';
import type { ContainerOptions } from './container.ts';
import { OWN_ADDRESS } from './controlplane/pki.ts';

const SLICES = collectionPath({
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  namespace: NAMESPACE,
});
const SLICE = 'brupop-e2e';
/** HTTP_PORT's default: the API server dials the controllers' own port for people who ask for its plan, older Services do not name it. */
const PLANS_PORT = 8080;

/** What kube-proxy, the cluster's DNS and the kubelets give to pods, in a network that all of them share. */
export interface ClusterNetwork {
  readonly container: Pick<ContainerOptions, 'root' | 'hostsFile'>;
  /** What a kubelet tells every container of where the Kubernetes API is; its port is the one on which it listens here. */
  readonly environment: Readonly<Record<string, string>>;
  /** Of the operator's Services. */
  readonly endpoints: Pick<ServiceEndpoints, 'update'>;
  close(): Promise<void>;
}

/** Makes the operator's Service and the API's reachable at their own addresses, and the former by its name. @param dir folder to write into */
export async function clusterNetwork({ transport, api }: RealCluster, dir: string): Promise<ClusterNetwork> {
  const operator = await operatorService(transport);
  const kubernetes = (await transport.request({
    method: 'GET',
    path: '/api/v1/namespaces/default/services/kubernetes',
  })) as Service;
  for (const { spec } of [operator, kubernetes]) await addAddress(spec?.clusterIP ?? '');
  const container = { root: join(dir, 'container', 'root'), hostsFile: join(dir, 'container', 'hosts') };
  await mkdir(container.root, { recursive: true });
  await writeFile(container.hostsFile, hosts(operator));
  // On every address: pods dial the Service's, the API server the endpoint's, which may not be loopback.
  const service = await serveService('0.0.0.0', operator.spec?.ports?.[0]?.port);
  await publish(transport, { name: portName(operator), port: service.port });
  const endpoints = new ServiceEndpoints(transport, service);
  const plans = await serveService(OWN_ADDRESS, PLANS_PORT);
  const controllers = new ServiceEndpoints(transport, plans, CONTROLLER_SERVICE);
  return {
    container,
    environment: {
      KUBERNETES_SERVICE_HOST: kubernetes.spec?.clusterIP ?? '',
      KUBERNETES_SERVICE_PORT: String(api.port),
    },
    endpoints: {
      update: async (ready) => {
        await Promise.all([endpoints.update(ready), controllers.update(ready)]);
        await rename(transport, service.port).catch(() => undefined);
      },
    },
    close: async () => void (await Promise.all([service.close(), plans.close()])),
  };
}

/** To the loopback of the control plane's own network namespace. */
export async function addAddress(address: string): Promise<void> {
  await promisify(execFile)('ip', ['address', 'replace', `${address}/32`, 'dev', 'lo']);
}

function hosts({ metadata: { name, namespace }, spec }: Service): string {
  return `127.0.0.1 localhost\n${spec?.clusterIP} ${name}.${namespace}.svc.cluster.local ${name}.${namespace}.svc\n`;
}

function portName({ spec }: Service): string {
  return spec?.ports?.[0]?.name ?? '';
}

interface Port {
  readonly name: string;
  readonly port: number;
}

/** The endpoint that the API server dials. */
async function publish(transport: KubeTransport, port: Port): Promise<void> {
  await transport.request({
    method: 'POST',
    path: SLICES,
    body: {
      metadata: { name: SLICE, labels: { 'kubernetes.io/service-name': APISERVER_SERVICE } },
      addressType: 'IPv4',
      ports: [port],
      endpoints: [{ addresses: [OWN_ADDRESS], conditions: { ready: true } }],
    },
  });
}

/** Endpoints are found by the name of the Service's port, which an upgrade changes. */
async function rename(transport: KubeTransport, port: number): Promise<void> {
  const name = portName(await operatorService(transport));
  const path = objectPath(SLICES, SLICE);
  const contentType = 'application/merge-patch+json';
  await transport.request({ method: 'PATCH', path, contentType, body: { ports: [{ name, port }] } });
}
