import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { httpsTransport } from '../../runtime/kube/https.ts';
import { kubeconfigAccess } from '../../runtime/kube/kubeconfig.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { comesTrue } from './come-true.ts';
import { outagesIn } from './controlplane/outages.ts';

/** The control plane that `npm run lab -- controlplane exec` has started around this process. */
export interface RealCluster {
  /** File of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Folder that is gone with the control plane. */
  readonly dir: string;
  /** As cluster administrator. */
  readonly transport: KubeTransport;
  readonly api: { readonly port: number; readonly caPem: string };
}

export async function realCluster(): Promise<RealCluster> {
  const { KUBECONFIG: kubeconfig = '', CONTROLPLANE_DIR: dir = '' } = process.env;
  const { access } = await kubeconfigAccess(kubeconfig);
  const { tls } = await access.credentials();
  return {
    kubeconfig,
    dir,
    transport: httpsTransport(access, { userAgent: 'e2e' }),
    api: { port: Number(new URL(access.server).port), caPem: String(tls.ca) },
  };
}

/** Ends the API server as `kill -9` does. Resolves when it has been started again, is ready, and `outagesIn` tells of it. */
export async function killApiServer({ dir }: RealCluster): Promise<void> {
  const before = (await outagesIn(dir)).length;
  process.kill(Number(await readFile(join(dir, 'pids', 'kube-apiserver'), 'utf8')), 'SIGKILL');
  await comesTrue(async () => (await outagesIn(dir)).length > before);
}
