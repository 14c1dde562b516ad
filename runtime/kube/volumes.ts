import { Collection } from './collection.ts';
import type { PersistentVolume, PersistentVolumeClaim } from './objects.ts';
import { collectionPath } from './paths.ts';
import type { KubeTransport } from './transport.ts';

/** PersistentVolumes by the names that Nodes use, live. */
export interface VolumePort {
  /**
   * The unique name, as in `status.volumesInUse` of a Node, of the volume that a claim is bound to; undefined where it is bound to none, or
   * to one without a CSI driver, whose name only its plugin makes.
   */
  uniqueName(claim: { readonly namespace: string; readonly name: string }): Promise<string | undefined>;
}

const VOLUMES_PATH = collectionPath({ version: 'v1', plural: 'persistentvolumes' });

export function volumePort(transport: KubeTransport): VolumePort {
  const volumes = new Collection<PersistentVolume>(transport, VOLUMES_PATH);
  return {
    async uniqueName({ namespace, name }) {
      const path = collectionPath({ version: 'v1', plural: 'persistentvolumeclaims', namespace });
      const claim = await new Collection<PersistentVolumeClaim>(transport, path).get(name);
      const bound = claim?.spec?.volumeName;
      const csi = bound ? (await volumes.get(bound))?.spec?.csi : undefined;
      return csi ? `kubernetes.io/csi/${csi.driver}^${csi.volumeHandle}` : undefined;
    },
  };
}
