import type { Stage } from './stage.ts';

/** A claim in the world's namespace, bound to a volume of its own; the unique name of that. */
export async function addClaim({ cluster: { admin }, world }: Stage, name: string): Promise<string> {
  const volume = `${world.names.namespace}-${name}`;
  const spec = { storageClassName: '', accessModes: ['ReadWriteOnce'] };
  const storage = '1Gi';
  await admin.create('/api/v1/persistentvolumes', {
    metadata: { name: volume },
    spec: { ...spec, capacity: { storage }, csi: { driver: 'csi.test', volumeHandle: volume } },
  });
  world.atEnd(() => admin.delete(`/api/v1/persistentvolumes/${volume}`));
  await admin.create(`/api/v1/namespaces/${world.names.namespace}/persistentvolumeclaims`, {
    metadata: { name },
    spec: { ...spec, resources: { requests: { storage } }, volumeName: volume },
  });
  return `kubernetes.io/csi/csi.test^${volume}`;
}

/** What the node's kubelet says that it has in use. */
export async function useVolumes({ cluster, world }: Stage, volumesInUse: readonly string[]): Promise<void> {
  await cluster.admin.patch(`/api/v1/nodes/${world.names.nodeName}/status`, { status: { volumesInUse } });
}
