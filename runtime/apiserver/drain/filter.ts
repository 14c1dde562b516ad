import { COMPONENT_LABEL, COMPONENTS } from '../../shadow/names.ts';
import { type DrainPod, isFinished } from './pod.ts';

/** What decides what a drain does with a node's pods. Every replica comes to the same result. */
export interface FilterTerms {
  /** Pods that were created after this came after the cordon. Milliseconds since the Unix epoch, by the API server's clock. */
  readonly lateAfter: number;
  /** The operator's own namespace. */
  readonly namespace: string;
}

/** What a drain does with a pod, or why it leaves the pod where it is. */
export type PodDeleteStatus =
  'evict' | 'evict-critical' | 'evict-last' | 'finished' | 'mirror' | 'daemonset' | 'tolerates-cordon';

const OWN_COMPONENTS: ReadonlySet<string> = new Set([COMPONENTS.apiserver, COMPONENTS.controller]);

/**
 * Pods with local data (`emptyDir`), and pods that nothing will create again, are evicted like any other, because the reboot ends them
 * anyway. A pod that is already ending is among those to evict: the drain waits for it.
 */
export function podDeleteStatus(pod: DrainPod, terms: FilterTerms): PodDeleteStatus {
  if (isFinished(pod)) return 'finished';
  if (pod.isMirror) return 'mirror';
  // It would come back at once, to the cordoned node as well.
  if (pod.controller?.kind === 'DaemonSet') return 'daemonset';
  if (isLate(pod, terms) && pod.toleratesCordon) return 'tolerates-cordon';
  if (isOwn(pod, terms)) return 'evict-last';
  return pod.isCritical ? 'evict-critical' : 'evict';
}

/**
 * A pod that was created after the cordon and tolerates it comes back as often as it is evicted. Creation times decide, and not what this
 * replica has seen, so that every replica decides alike.
 */
function isLate({ created }: DrainPod, { lateAfter }: FilterTerms): boolean {
  return created !== undefined && created > lateAfter;
}

/** The operator's own pods, without which the drain itself could not go on. Its agents are DaemonSet pods. */
function isOwn(pod: DrainPod, { namespace }: FilterTerms): boolean {
  return pod.namespace === namespace && OWN_COMPONENTS.has(pod.labels[COMPONENT_LABEL] ?? '');
}

/** The pods of a node, by what a drain does with them. */
export interface PodDeleteList {
  /** To evict, or to wait for where they are ending. */
  readonly pods: readonly DrainPod[];
  /** The same, but of system priority: after those, which may need them to end. */
  readonly critical: readonly DrainPod[];
  /** The operator's own, evicted once the others are gone. */
  readonly own: readonly DrainPod[];
  /** Came after the cordon and tolerate it: reported, not waited for. */
  readonly tolerating: readonly DrainPod[];
  /** All that stay where they are and run, those that tolerate the cordon among them. */
  readonly staying: readonly DrainPod[];
}

export function filterPods(pods: readonly DrainPod[], terms: FilterTerms): PodDeleteList {
  const withStatus = (...statuses: readonly PodDeleteStatus[]): readonly DrainPod[] =>
    pods.filter((pod) => statuses.includes(podDeleteStatus(pod, terms)));
  return {
    pods: withStatus('evict'),
    critical: withStatus('evict-critical'),
    own: withStatus('evict-last'),
    tolerating: withStatus('tolerates-cordon'),
    staying: withStatus('mirror', 'daemonset', 'tolerates-cordon'),
  };
}

/** All pods that the drain has to see gone. */
export function podsLeft(list: PodDeleteList): readonly DrainPod[] {
  return [...othersLeft(list), ...list.own];
}

/** The same without the operator's own. */
export function othersLeft({ pods, critical }: PodDeleteList): readonly DrainPod[] {
  return [...pods, ...critical];
}

/**
 * Keeps the operator's own pods on the node where no other node could take them.
 * @param canReschedule asked only where there are such pods
 */
export async function keepOwnUnlessReschedulable(
  list: PodDeleteList,
  canReschedule: () => Promise<boolean> | boolean,
): Promise<PodDeleteList> {
  if (list.own.length === 0 || (await canReschedule())) return list;
  return { ...list, own: [], staying: [...list.staying, ...list.own] };
}
