import type { KubeConfig } from '@kubernetes/client-node';
import type { ClusterAccess } from '../../runtime/kube/access.ts';
import { httpsTransport } from '../../runtime/kube/https.ts';
import { rfc3339, systemClock } from '../../runtime/lib/clock.ts';
import { Client } from '../kube/client.ts';
import { embeddedCluster } from './embedded.ts';
import { realCluster } from './real.ts';

/** An API server that the contract is held against, reached over HTTPS. */
export interface ContractServer {
  /** As cluster administrator. */
  readonly access: ClusterAccess;
  /** The same for client-node. */
  readonly config: KubeConfig;
  /** An address of this machine at which the server may reach a webhook. */
  readonly webhookHost: string;
  /** Brings a Service into being whose one endpoint is this port of `webhookHost`. */
  serve(service: { readonly namespace: string; readonly name: string }, port: number): Promise<void>;
  /** Resolves when pods can be made in a namespace that is new. */
  settled(namespace: string): Promise<void>;
  /** Makes the server forget the changes of custom resources so far. */
  forget(): Promise<void>;
  /** Compacts the store: what only it still knows of the past is gone. */
  compact(): Promise<void>;
  stop(): Promise<void>;
}

/** What the tests of the contract work with. */
export interface Contract extends ContractServer {
  readonly admin: Client;
  /** Name of a node that is ready, though nobody runs it, and cordoned, so that no pod gets there by itself. */
  readonly node: string;
  /** The client of whoever bears the token. */
  as(token: string): Client;
  /** A new namespace in which pods can be made. */
  namespace(): Promise<string>;
}

/** The embedded cluster, or the real one that `CONTRACT_KUBECONFIG` names. */
export async function contract(): Promise<Contract> {
  const server = await (process.env['CONTRACT_KUBECONFIG'] === undefined
    ? embeddedCluster()
    : realCluster(process.env));
  const client = (access: ClusterAccess): Client => new Client(httpsTransport(access, { userAgent: 'contract' }));
  const admin = client(server.access);
  const { metadata } = await admin.create('/api/v1/nodes', {
    metadata: { generateName: 'contract-' },
    spec: { unschedulable: true },
  });
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: rfc3339(systemClock.now()) }];
  await admin.patch(`/api/v1/nodes/${metadata.name}/status`, { status: { conditions } });
  return {
    ...server,
    admin,
    node: metadata.name,
    as: (token) =>
      client({
        ...server.access,
        // Without the administrator's certificate, which would come before the token.
        credentials: async () => ({
          tls: { ca: (await server.access.credentials()).tls.ca },
          headers: { authorization: `Bearer ${token}` },
        }),
      }),
    namespace: async () => {
      const made = await admin.create('/api/v1/namespaces', { metadata: { generateName: 'contract-' } });
      await server.settled(made.metadata.name);
      return made.metadata.name;
    },
  };
}
