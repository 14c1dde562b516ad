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

/** What a condition says. */
type Word = Required<Pick<Condition, 'status' | 'reason' | 'message'>>;

export const READY: Word = { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' };
export const STARTING: Word = {
  status: 'False',
  reason: 'KubeletNotReady',
  message: 'container runtime network not ready: cni plugin not initialized',
};
const LOST: Word = {
  status: 'Unknown',
  reason: 'NodeStatusUnknown',
  message: 'Kubelet stopped posting node status.',
};

/** Status of a node that has booted and runs pods. @param time of the boot, RFC 3339 */
export function booted(name: string, boot: BootInfo, time: string): object {
  return { ...machineStatus(name, boot), conditions: [readyCondition(READY, time)] };
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
  return { conditions: [readyCondition(LOST, time)] };
}

function readyCondition(word: Word, time: string): Condition & { readonly lastHeartbeatTime: string } {
  return { type: 'Ready', ...word, lastTransitionTime: time, lastHeartbeatTime: time };
}

const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** All that a kubelet says of a node that there was. @param now by its own clock, milliseconds since the Unix epoch */
export function kubeletStatus(node: Node | undefined, ready: Word, now: number): object {
  const fine: Word = { status: 'False', reason: 'KubeletHasSufficient', message: 'kubelet has sufficient' };
  const words = [...PRESSURES.map((type) => ({ type, ...fine })), { type: 'Ready', ...ready }];
  const lastHeartbeatTime = rfc3339(now);
  return { conditions: words.map((word) => Object.assign(transition(node, word, now), { lastHeartbeatTime })) };
}

/** What the control plane says of a node that it has not heard of: of each condition that it is unknown. */
export function lostStatus(node: Node, now: number): object {
  const types = [...PRESSURES, 'Ready'];
  return { conditions: types.map((type) => transition(node, { type, ...LOST }, now)) };
}

/** The time of the last transition is that of another status, and not of another look. */
function transition(node: Node | undefined, wanted: Condition, now: number): Condition {
  const present = node?.status?.conditions?.find(({ type }) => type === wanted.type);
  const lastTransitionTime = present?.status === wanted.status ? present.lastTransitionTime : undefined;
  return { ...wanted, lastTransitionTime: lastTransitionTime ?? rfc3339(now) };
}
