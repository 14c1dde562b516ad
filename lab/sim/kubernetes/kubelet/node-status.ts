import type { Condition, Node } from '../../../../runtime/kube/objects.ts';
import { rfc3339 } from '../../../../runtime/lib/clock.ts';

/** What a boot decides: it shows in the Node's `status.nodeInfo`. */
export interface BootInfo {
  /** e.g. `Bottlerocket OS 1.39.0 (aws-k8s-1.33)`. */
  readonly osImage: string;
  readonly bootID: string;
}

const KUBELET_VERSION = 'v1.33.0';
const CAPACITY = { cpu: '4', memory: '16Gi', pods: '110' };

/** With which a kubelet registers its Node. */
export function ownLabels(name: string, architecture = 'amd64'): Readonly<Record<string, string>> {
  return { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': architecture };
}

/** The Node object as a kubelet registers it. */
export function registration(name: string, labels: Readonly<Record<string, string>>): object {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { ...ownLabels(name), ...labels } }, spec: {} };
}

/** The node's lease. No controller here goes by it: a node that goes down says so, and nobody has to guess. */
export function lease(name: string, nowMs: number): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kube-node-lease' },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, ...renewed(nowMs) },
  };
}

/** What a heartbeat changes in the lease. */
export const renewed = (nowMs: number): object => ({
  renewTime: rfc3339(nowMs, { millis: true }).replace('Z', '000Z'),
});

/** Status of a node that has booted and runs pods. @param time of the boot, RFC 3339 */
export function booted(name: string, boot: BootInfo, time: string): object {
  const ready = { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' } as const;
  return { ...machineStatus(name, boot), conditions: [readyCondition(ready, time)] };
}

/** What a kubelet says of its machine once a boot. */
export function machineStatus(name: string, { osImage, bootID }: BootInfo, architecture = 'amd64'): object {
  return {
    capacity: CAPACITY,
    allocatable: CAPACITY,
    addresses: [{ type: 'Hostname', address: name }],
    nodeInfo: {
      osImage,
      bootID,
      machineID: name,
      systemUUID: name,
      architecture,
      operatingSystem: 'linux',
      kernelVersion: '6.1.0',
      containerRuntimeVersion: 'containerd://2.0.0',
      kubeletVersion: KUBELET_VERSION,
      kubeProxyVersion: '',
    },
  };
}

/** Status of a node whose kubelet is gone, as the control plane writes it some time after (here: at once). @param time RFC 3339 */
export function lost(time: string): NonNullable<Node['status']> {
  const message = 'Kubelet stopped posting node status.';
  return { conditions: [readyCondition({ status: 'Unknown', reason: 'NodeStatusUnknown', message }, time)] };
}

function readyCondition(
  state: Pick<Condition, 'status' | 'reason' | 'message'>,
  time: string,
): Condition & { readonly lastHeartbeatTime: string } {
  return { type: 'Ready', ...state, lastTransitionTime: time, lastHeartbeatTime: time };
}
