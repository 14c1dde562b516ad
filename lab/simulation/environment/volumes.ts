import { isReady, type Node, type Pod } from '../../../runtime/kube/objects.ts';
import type { Hand } from './hand.ts';

const DRIVER = 'ebs.csi.aws.com';
/** A volume of a node that is not Ready is detached all the same after so long, milliseconds. */
const FORCED_MS = 360_000;

const handleOf = (namespace: string, claim: string): string => `vol-${namespace}-${claim}`;

/** A volume over the network, which one node can have at a time, and the claim that is bound to it. */
export async function provision(hand: Hand, namespace: string, claim: string): Promise<void> {
  const handle = handleOf(namespace, claim);
  const shape = { accessModes: ['ReadWriteOnce'], storageClassName: 'gp3' };
  const csi = { driver: DRIVER, volumeHandle: handle };
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claim };
  const capacity = { storage: '8Gi' };
  await hand.create('/api/v1/persistentvolumes', {
    metadata: { name: handle },
    spec: { ...shape, capacity, csi, claimRef },
  });
  await hand.create(`/api/v1/namespaces/${namespace}/persistentvolumeclaims`, {
    metadata: { name: claim },
    spec: { ...shape, resources: { requests: capacity }, volumeName: handle },
  });
}

/** What a pod of this simulation that has a volume says of it. */
export const volumesOf = (claim: string): NonNullable<NonNullable<Pod['spec']>['volumes']> => [
  { name: 'data', persistentVolumeClaim: { claimName: claim } },
];

/** The claim of a pod; undefined where it has none. */
export function claimOf({ spec }: Pod): string | undefined {
  return spec?.volumes?.[0]?.persistentVolumeClaim?.claimName;
}

/** As a Node's `status.volumesInUse` names the volume of a pod. */
export function uniqueNameOf(pod: Pod): string | undefined {
  const claim = claimOf(pod);
  return claim === undefined
    ? undefined
    : `kubernetes.io/csi/${DRIVER}^${handleOf(pod.metadata.namespace ?? '', claim)}`;
}

/**
 * Whether another node than `name` still has the volume: Kubernetes attaches it here only once the kubelet there says that it is unmounted, or
 * that node has not been Ready for six minutes.
 */
export function isElsewhere(volume: string, name: string, nodes: Iterable<Node>, now: number): boolean {
  for (const node of nodes) {
    if (node.metadata.name === name) continue;
    const { volumesInUse } = (node.status ?? {}) as { readonly volumesInUse?: readonly string[] };
    if (volumesInUse?.includes(volume) && !isForced(node, now)) return true;
  }
  return false;
}

function isForced(node: Node, now: number): boolean {
  const since = node.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  return !isReady(node) && now - Date.parse(since ?? '') > FORCED_MS;
}
