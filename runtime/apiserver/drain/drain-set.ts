import type { Pod, Toleration } from '../../kube/objects.ts';
import { instantOf } from '../../lib/clock.ts';
import { hasEnded } from '../pod-phase.ts';
import { COMPONENT_LABEL, COMPONENTS } from '../../shadow/names.ts';

/** What decides over a node's pods in one drain. Every replica computes the same from it. */
export interface DrainTerms {
  /** Pods that were created after this (RFC 3339) came after the cordon. */
  readonly lateAfter: string;
  /** The operator's own namespace. */
  readonly namespace: string;
}

/** What a drain does with a pod, or why it lets it be. */
export type Fate = 'evict' | 'evict-last' | 'finished' | 'mirror' | 'daemonset' | 'tolerates-cordon';

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const CORDON_TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const OWN_COMPONENTS: ReadonlySet<string> = new Set([COMPONENTS.apiserver, COMPONENTS.controller]);

/**
 * Pods with local data (`emptyDir`) and pods that nothing will create anew are evicted like any other: the reboot ends them anyway.
 * A pod that is ending already belongs to those that the drain waits for.
 */
export function fateOf(pod: Pod, terms: DrainTerms): Fate {
  if (hasEnded(pod)) return 'finished';
  if (pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) return 'mirror';
  if (isOfDaemonSet(pod)) return 'daemonset';
  if (isLate(pod, terms) && pod.spec?.tolerations?.some(toleratesCordon)) return 'tolerates-cordon';
  return isOwn(pod, terms) ? 'evict-last' : 'evict';
}

/** A DaemonSet's pod would come back at once, to the cordoned node as well. */
function isOfDaemonSet({ metadata }: Pod): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller && owner.kind === 'DaemonSet') ?? false;
}

/**
 * A pod that was created after the cordon and tolerates it comes back as often as it is evicted. Times of creation, and not what this
 * replica has seen, decide, so that another replica agrees.
 */
function isLate(pod: Pod, { lateAfter }: DrainTerms): boolean {
  const created = instantOf(pod.metadata.creationTimestamp);
  return created !== undefined && created > Date.parse(lateAfter);
}

function toleratesCordon({ key, operator = 'Equal', value = '', effect }: Toleration): boolean {
  if (effect && effect !== CORDON_TAINT.effect) return false;
  if (!key) return operator === 'Exists';
  return key === CORDON_TAINT.key && (operator === 'Exists' || value === '');
}

/** The operator's own pods, without which the drain itself could not go on. Its agents are DaemonSet pods. */
function isOwn(pod: Pod, { namespace }: DrainTerms): boolean {
  return pod.metadata.namespace === namespace && OWN_COMPONENTS.has(pod.metadata.labels?.[COMPONENT_LABEL] ?? '');
}

export interface DrainSet {
  /** Pods to evict, or to wait for where they are ending. */
  readonly pods: readonly Pod[];
  /** The operator's own, evicted once the others are gone. */
  readonly own: readonly Pod[];
  /** Pods that came after the cordon and tolerate it: reported, not waited for. */
  readonly tolerating: readonly Pod[];
  /** All that are left where they are and run, those among them. */
  readonly staying: readonly Pod[];
}

export function drainSet(pods: readonly Pod[], terms: DrainTerms): DrainSet {
  const withFate = (...fates: readonly Fate[]): readonly Pod[] =>
    pods.filter((pod) => fates.includes(fateOf(pod, terms)));
  return {
    pods: withFate('evict'),
    own: withFate('evict-last'),
    tolerating: withFate('tolerates-cordon'),
    staying: withFate('mirror', 'daemonset', 'tolerates-cordon'),
  };
}

/**
 * What of the set is to leave the node: the operator's own pods stay where no other node could take them.
 * @param elsewhere whether there is such a node; asked only where it matters
 */
export async function leaving(set: DrainSet, elsewhere: () => Promise<boolean>): Promise<DrainSet> {
  if (set.own.length === 0 || (await elsewhere())) return set;
  return { ...set, own: [], staying: [...set.staying, ...set.own] };
}
