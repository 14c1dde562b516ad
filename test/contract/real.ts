import { KubeConfig } from '@kubernetes/client-node';
import { httpsTransport } from '../../runtime/kube/https.ts';
import { kubeconfigAccess } from '../../runtime/kube/kubeconfig.ts';
import { type ServiceAddress, serveService } from '../../lab/sim/world/service.ts';
import { Client } from '../kube/client.ts';
import { OWN_ADDRESS } from '../e2e/controlplane/pki.ts';
import { DIALS_SERVICES } from '../e2e/controlplane/programs.ts';
import { addAddress } from '../e2e/network.ts';
import type { ContractServer } from './cluster.ts';
import { eventually } from './eventually.ts';

/** The control plane that `npm run lab -- controlplane exec` has started around this process. */
export async function realCluster(env: Readonly<Record<string, string | undefined>>): Promise<ContractServer> {
  const kubeconfig = env['CONTRACT_KUBECONFIG'] ?? '';
  const { access } = await kubeconfigAccess(kubeconfig);
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const client = new Client(httpsTransport(access, { userAgent: 'contract' }));
  const served: ServiceAddress[] = [];
  return {
    access,
    config,
    webhookHost: DIALS_SERVICES ? '127.0.0.1' : OWN_ADDRESS,
    serve: async (service, port) => {
      const { spec } = await create(client, service, port);
      if (!DIALS_SERVICES) return;
      await addAddress(spec.clusterIP);
      const address = await serveService(spec.clusterIP, PORT);
      address.setEndpoints([port]);
      served.push(address);
    },
    settled: async (namespace) => {
      await eventually(() => client.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`));
    },
    // It begins to remember when a definition is established, which is long past the first resourceVersion.
    forget: async () => undefined,
    compact: () => compact(client, env['CONTRACT_ETCD'] ?? ''),
    stop: async () => void (await Promise.all(served.map((address) => address.close()))),
  };
}

const PORT = 443;

interface Created {
  readonly spec: { readonly clusterIP: string };
}

async function create(
  client: Client,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  port: number,
): Promise<Created> {
  const body = { metadata: { name }, spec: { ports: [{ port: PORT }] } };
  const service = await client.create(`/api/v1/namespaces/${namespace}/services`, body);
  await client.create(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
    metadata: { name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: '', port }],
    endpoints: [{ addresses: [OWN_ADDRESS], conditions: { ready: true } }],
  });
  return service as unknown as Created;
}

/** Through the JSON that etcd speaks beside gRPC. */
async function compact(client: Client, etcd: string): Promise<void> {
  const { metadata } = await client.list('/api/v1/namespaces', { limit: '1' });
  const body = JSON.stringify({ revision: metadata.resourceVersion, physical: true });
  const answer = await fetch(`${etcd}/v3/kv/compaction`, { method: 'POST', body });
  if (!answer.ok) throw new Error(`etcd did not compact: ${await answer.text()}`);
}
