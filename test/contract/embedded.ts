import { KubeConfig } from '@kubernetes/client-node';
import { systemClock } from '../../runtime/lib/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { serveCluster } from '../../lab/sim/cluster/https.ts';
import { startKubernetes } from '../../lab/sim/kubernetes/main.ts';
import { webhookDialer } from '../../lab/sim/world/webhooks.ts';
import type { ContractServer } from './cluster.ts';

/** The embedded cluster with its controllers, behind HTTPS. */
export async function embeddedCluster(): Promise<ContractServer> {
  const cluster = new EmbeddedCluster({ clock: systemClock, random: Math.random });
  const served = await serveCluster(cluster);
  const ending = new AbortController();
  const transport = cluster.transport(ADMIN);
  const kubernetes = startKubernetes({ transport, clock: systemClock, random: Math.random, signal: ending.signal });
  const kubeconfig = served.kubeconfig(ADMIN);
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  const { users } = JSON.parse(kubeconfig) as { users: [{ user: { token: string } }] };
  const headers = { authorization: `Bearer ${users[0].user.token}` };
  return {
    access: { server: served.url, credentials: async () => ({ tls: { ca: served.caPem }, headers }) },
    config,
    webhookHost: '127.0.0.1',
    serve: async (_, port) => cluster.setWebhooks(webhookDialer(() => port)),
    // Here pods need no account.
    settled: async () => undefined,
    forget: async () => cluster.compact(),
    compact: async () => cluster.compact(),
    stop: async () => {
      ending.abort(new Error('over'));
      await kubernetes.stopped;
      await served.close();
    },
  };
}
