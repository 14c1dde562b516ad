import { httpsTransport } from '../../runtime/kube/https.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import type { RealCluster } from './cluster.ts';
import { controlPlaneCa } from './controlplane/pki.ts';

/** The API as the kubelet of this node asks it: what it may do is the Node authorizer's and NodeRestriction's to say. */
export async function nodeTransport(
  { dir, api }: Pick<RealCluster, 'dir' | 'api'>,
  nodeName: string,
): Promise<KubeTransport> {
  const ca = await controlPlaneCa(systemClock, dir);
  const { certPem, keyPem } = await ca.issue({ commonName: `system:node:${nodeName}`, organization: 'system:nodes' });
  const credentials = { tls: { ca: ca.certPem, cert: certPem, key: keyPem }, headers: {} };
  const access = { server: `https://127.0.0.1:${api.port}`, credentials: async () => credentials };
  return httpsTransport(access, { userAgent: 'kubelet' });
}
