import { httpsTransport } from './https.ts';
import { type ClusterConnection, connectInCluster, type InClusterConfig } from './in-cluster.ts';
import { kubeconfigAccess } from './kubeconfig.ts';

export interface AccessConfig extends InClusterConfig {
  /** Path of a kubeconfig; empty = the service account. */
  readonly KUBECONFIG: string;
  /** Name of a context of the kubeconfig. @default its current one */
  readonly context?: string | undefined;
}

/**
 * Reaches the cluster as the environment says: by kubeconfig, else as a pod does.
 * @param userAgent see `userAgent`
 * @throws AccessError when a file is missing or makes no sense
 */
export async function connect(config: AccessConfig, userAgent: string): Promise<ClusterConnection> {
  if (config.KUBECONFIG === '') return connectInCluster(config, userAgent);
  const { access, namespace } = await kubeconfigAccess(config.KUBECONFIG, config);
  return { transport: httpsTransport(access, { userAgent }), namespace };
}
