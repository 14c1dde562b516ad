import { instantOf } from '../lib/clock.ts';
import { COMPONENT_LABEL, COMPONENTS } from '../api/shadow/names.ts';
import { type DrainPod, isFinished, originOf } from './pod.ts';

/** What decides what a drain does with a node's pods. Every replica comes to the same result. */
export interface FilterTerms {
  /** Pods that were created after this came after the cordon. Milliseconds since the Unix epoch, by the API server's clock. */
  readonly lateAfter: number;
  /** See Marks. */
  readonly returning: ReadonlySet<string>;
  /** A pod that is ending, and was due in this time, is not waited for any more. Milliseconds since the Unix epoch. */
  readonly overdue: { readonly from: number; readonly to: number };
  /** The operator's own namespace. */
  readonly namespace: string;
}

/** Of a drain that has yet to begin. @param now milliseconds since the Unix epoch */
export const termsAhead = (namespace: string, now: number): FilterTerms => ({
  lateAfter: now,
  returning: new Set(),
  overdue: { from: Infinity, to: -Infinity },
  namespace,
});

/** What a drain does with a pod, or why it leaves the pod where it is. */
export type PodDeleteStatus =
  | 'evict'
  | 'evict-critical'
  | 'evict-own'
  | 'finished'
  | 'mirror'
  | 'daemonset'
  | 'tolerates-cordon'
  | 'returned'
  | 'stuck';

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
  if (isStuck(pod, terms)) return 'stuck';
  const late = isLate(pod, terms) ? lateStatus(pod, terms) : undefined;
  return late ?? waveOf(pod, terms);
}

/** A pod that comes back as often as it is evicted. One that is ending is waited for. */
function lateStatus(pod: DrainPod, { returning }: FilterTerms): PodDeleteStatus | undefined {
  if (pod.toleratesCordon) return 'tolerates-cordon';
  return pod.due === undefined && returning.has(originOf(pod)) ? 'returned' : undefined;
}

function waveOf(pod: DrainPod, terms: FilterTerms): PodDeleteStatus {
  if (isOwn(pod, terms)) return 'evict-own';
  return pod.isCritical ? 'evict-critical' : 'evict';
}

/**
 * A pod that should have ended long ago, which only a reboot may cure. A kubelet that was away when the pod was due has told it nothing, and
 * one that is away is not to blame.
 */
function isStuck({ due }: DrainPod, { overdue: { from, to } }: FilterTerms): boolean {
  const instant = instantOf(due);
  return instant !== undefined && from <= instant && instant <= to;
}

/** Whether it came after the cordon. Creation times decide, and not what this replica has seen, so that every replica decides alike. */
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
  /** The operator's own, evicted once the first of the others is ending. */
  readonly own: readonly DrainPod[];
  /** Came after the cordon and tolerate it: reported, not waited for. */
  readonly tolerating: readonly DrainPod[];
  /** The same of pods that were put here past the scheduler each time one was evicted. */
  readonly returned: readonly DrainPod[];
  /** Should have ended long ago: reported, not waited for. */
  readonly stuck: readonly DrainPod[];
  /** All that stay where they are, and whose volumes are not waited for: the three before, DaemonSets' pods and mirror pods. */
  readonly staying: readonly DrainPod[];
}

/** The lists that a pod is in, by what a drain does with it. */
const LISTS = {
  evict: ['pods'],
  'evict-critical': ['critical'],
  'evict-own': ['own'],
  finished: [],
  mirror: ['staying'],
  daemonset: ['staying'],
  'tolerates-cordon': ['tolerating', 'staying'],
  returned: ['returned', 'staying'],
  stuck: ['stuck', 'staying'],
} satisfies Record<PodDeleteStatus, readonly (keyof PodDeleteList)[]>;

export function filterPods(pods: readonly DrainPod[], terms: FilterTerms): PodDeleteList {
  const sorted = pods.map((pod) => ({ pod, lists: LISTS[podDeleteStatus(pod, terms)] as readonly string[] }));
  const listed = (name: keyof PodDeleteList): readonly DrainPod[] =>
    sorted.flatMap(({ pod, lists }) => (lists.includes(name) ? [pod] : []));
  return {
    pods: listed('pods'),
    critical: listed('critical'),
    own: listed('own'),
    tolerating: listed('tolerating'),
    returned: listed('returned'),
    stuck: listed('stuck'),
    staying: listed('staying'),
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
 * Whether the operator's own may go: something of the drain gets on, or nobody else is left. Where all others are kept they stay. They serve on for
 * a while after they were told to end, and so begin beside the first of the others and not after the last.
 */
export function isOwnTurn(list: PodDeleteList): boolean {
  const others = othersLeft(list);
  return others.length === 0 || others.some(({ due }) => due !== undefined);
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
