import { httpsTransport } from './https.ts';
import { type ClusterConnection, connectInCluster, type InClusterConfig } from './in-cluster.ts';

export interface AccessConfig extends InClusterConfig {
  /** Path of a kubeconfig; empty = the service account. */
  readonly KUBECONFIG: string;
}

/**
 * Reaches the cluster as the environment says: by kubeconfig, else as a pod does. What is only ever a pod uses `connectInCluster`, which
 * has no client-node in its bundle.
 * @param userAgent see `userAgent`
 * @throws AccessError when a file is missing or makes no sense
 */
export async function connect(config: AccessConfig, userAgent: string): Promise<ClusterConnection> {
  if (config.KUBECONFIG === '') return connectInCluster(config, userAgent);
  // Loaded where it is needed only: client-node costs 80 MB and half a second.
  const { kubeconfigAccess } = await import('./kubeconfig.ts');
  const { access, namespace } = await kubeconfigAccess(config.KUBECONFIG);
  return { transport: httpsTransport(access, { userAgent }), namespace };
}
