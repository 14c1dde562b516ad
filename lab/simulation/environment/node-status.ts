import type { Condition, Node } from '../../../runtime/kube/objects.ts';
import { rfc3339 } from '../../../runtime/lib/clock.ts';

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

const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** What a kubelet says of its node. @param now by its own clock, milliseconds since the Unix epoch */
export function kubeletStatus(node: Node | undefined, ready: Word, now: number): object {
  const fine: Word = { status: 'False', reason: 'KubeletHasSufficient', message: 'kubelet has sufficient' };
  const words = [...PRESSURES.map((type) => [type, fine] as const), ['Ready', ready] as const];
  return { conditions: words.map(([type, word]) => condition(node, { type, ...word }, now)) };
}

/** What the control plane says of a node that it has not heard of: of each condition that it is unknown. */
export function lostStatus(node: Node, now: number): object {
  const types = [...PRESSURES, 'Ready'];
  return { conditions: types.map((type) => transition(node, { type, ...LOST }, now)) };
}

function condition(node: Node | undefined, wanted: Condition, now: number): object {
  return { ...transition(node, wanted, now), lastHeartbeatTime: rfc3339(now) };
}

/** The time of the last transition is that of another status, and not of another look. */
function transition(node: Node | undefined, wanted: Condition, now: number): Condition {
  const present = node?.status?.conditions?.find(({ type }) => type === wanted.type);
  const lastTransitionTime = present?.status === wanted.status ? present.lastTransitionTime : undefined;
  return { ...wanted, lastTransitionTime: lastTransitionTime ?? rfc3339(now) };
}
