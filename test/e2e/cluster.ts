import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { httpsTransport } from '../../runtime/kube/https.ts';
import { kubeconfigAccess } from '../../runtime/kube/kubeconfig.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { eventually } from '../contract/eventually.ts';

/** The control plane that `npm run controlplane -- exec` has started around this process. */
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

/** Ends the API server as `kill -9` does. Resolves when it has been started again, ready or not. */
export async function killApiServer({ dir }: RealCluster): Promise<void> {
  const pid = (): Promise<string> => readFile(join(dir, 'pids', 'kube-apiserver'), 'utf8');
  const killed = await pid();
  process.kill(Number(killed), 'SIGKILL');
  await eventually(async () => {
    if ((await pid()) === killed) throw new Error('the API server was not started again');
  });
}
