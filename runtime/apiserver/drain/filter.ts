import { listPages, queryOf } from '../../kube/collection.ts';
import { NODES_PATH, onNode } from '../../kube/resources.ts';
import { isPodTerminal, isReady, type Node, type Pod, type Toleration } from '../../kube/objects.ts';
import type { KubeTransport } from '../../kube/transport.ts';
import { type Clock, instantOf } from '../../lib/clock.ts';
import { COMPONENT_LABEL, COMPONENTS } from '../../shadow/names.ts';
import type { Ports } from '../ports.ts';

/** What decides what a drain does with a node's pods. Every replica comes to the same result. */
interface FilterTerms {
  /** Pods that were created after this (RFC 3339) came after the cordon. */
  readonly lateAfter: string;
  /** The operator's own namespace. */
  readonly namespace: string;
}

/** What a drain does with a pod, or why it leaves the pod where it is. */
export type PodDeleteStatus = 'evict' | 'evict-last' | 'finished' | 'mirror' | 'daemonset' | 'tolerates-cordon';

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const CORDON_TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const OWN_COMPONENTS: ReadonlySet<string> = new Set([COMPONENTS.apiserver, COMPONENTS.controller]);

/**
 * Pods with local data (`emptyDir`), and pods that nothing will create again, are evicted like any other, because the reboot ends them
 * anyway. A pod that is already ending is among those to evict: the drain waits for it.
 */
export function podDeleteStatus(pod: Pod, terms: FilterTerms): PodDeleteStatus {
  if (isPodTerminal(pod)) return 'finished';
  if (pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) return 'mirror';
  if (isOfDaemonSet(pod)) return 'daemonset';
  if (isLate(pod, terms) && pod.spec?.tolerations?.some(toleratesCordon)) return 'tolerates-cordon';
  return isOwn(pod, terms) ? 'evict-last' : 'evict';
}

/**
 * The fields of a pod that `podDeleteStatus` reads. A drain's watch keeps nothing else, because containers, volumes and their states can be
 * large. A filter that reads another field must add it here.
 */
export function filterFields({ metadata, spec, status }: Pod): Pod {
  return {
    metadata,
    ...(spec?.tolerations && { spec: { tolerations: spec.tolerations } }),
    ...(status?.phase && { status: { phase: status.phase } }),
  };
}

/** A DaemonSet's pod would come back at once, to the cordoned node as well. */
function isOfDaemonSet({ metadata }: Pod): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller && owner.kind === 'DaemonSet') ?? false;
}

/**
 * A pod that was created after the cordon and tolerates it comes back as often as it is evicted. Creation times decide, and not what this
 * replica has seen, so that every replica decides alike.
 */
function isLate(pod: Pod, { lateAfter }: FilterTerms): boolean {
  const created = instantOf(pod.metadata.creationTimestamp);
  return created !== undefined && created > Date.parse(lateAfter);
}

function toleratesCordon({ key, operator = 'Equal', value = '', effect }: Toleration): boolean {
  if (effect && effect !== CORDON_TAINT.effect) return false;
  if (!key) return operator === 'Exists';
  return key === CORDON_TAINT.key && (operator === 'Exists' || value === '');
}

/** The operator's own pods, without which the drain itself could not go on. Its agents are DaemonSet pods. */
function isOwn(pod: Pod, { namespace }: FilterTerms): boolean {
  return pod.metadata.namespace === namespace && OWN_COMPONENTS.has(pod.metadata.labels?.[COMPONENT_LABEL] ?? '');
}

/** By UID: why a pod could not be evicted at the last try. */
export type Blocked = ReadonlyMap<string, string>;

/** The pods of a node, by what a drain does with them. */
export interface PodDeleteList {
  /** To evict, or to wait for where they are ending. */
  readonly pods: readonly Pod[];
  /** The operator's own, evicted once the others are gone. */
  readonly own: readonly Pod[];
  /** Came after the cordon and tolerate it: reported, not waited for. */
  readonly tolerating: readonly Pod[];
  /** All that stay where they are and run, those that tolerate the cordon among them. */
  readonly staying: readonly Pod[];
}

export function filterPods(pods: readonly Pod[], terms: FilterTerms): PodDeleteList {
  const withStatus = (...statuses: readonly PodDeleteStatus[]): readonly Pod[] =>
    pods.filter((pod) => statuses.includes(podDeleteStatus(pod, terms)));
  return {
    pods: withStatus('evict'),
    own: withStatus('evict-last'),
    tolerating: withStatus('tolerates-cordon'),
    staying: withStatus('mirror', 'daemonset', 'tolerates-cordon'),
  };
}

/** All pods that the drain has to see gone. */
export function podsLeft({ pods, own }: PodDeleteList): readonly Pod[] {
  return [...pods, ...own];
}

/**
 * Keeps the operator's own pods on the node where no other node could take them.
 * @param canReschedule asked only where there are such pods
 */
export async function keepOwnUnlessReschedulable(
  list: PodDeleteList,
  canReschedule: () => Promise<boolean>,
): Promise<PodDeleteList> {
  if (list.own.length === 0 || (await canReschedule())) return list;
  return { ...list, own: [], staying: [...list.staying, ...list.own] };
}

/** All pods on a node, by a live list. */
export function listPodsOn({ pods }: Pick<Ports, 'pods'>, nodeName: string): Promise<readonly Pod[]> {
  return pods.list({ fieldSelector: onNode(nodeName) });
}

/**
 * What a drain makes of the pods of a node that were listed.
 * @param lateAfter as in FilterTerms
 */
export function filterListed(
  { transport, namespace }: Pick<Ports, 'transport' | 'namespace'>,
  listed: readonly Pod[],
  { nodeName, lateAfter }: { readonly nodeName: string; readonly lateAfter: string },
): Promise<PodDeleteList> {
  const list = filterPods(listed, { lateAfter, namespace });
  return keepOwnUnlessReschedulable(list, () => otherNodeTakesPods(transport, nodeName));
}

/** One suitable node is enough, and it is mostly among the first. A Node with its list of images takes tens of KiB. */
const PAGE_SIZE = 10;
const SCHEDULABLE = queryOf({ fieldSelector: 'spec.unschedulable=false' });

/** Whether any node but `nodeName` is Ready and not cordoned. Reads only as many pages of nodes as it needs. */
async function otherNodeTakesPods(transport: KubeTransport, nodeName: string, signal?: AbortSignal): Promise<boolean> {
  const request = { path: NODES_PATH, query: SCHEDULABLE, pageSize: PAGE_SIZE, signal };
  for await (const page of listPages<Node>(transport, request)) {
    if (page.items.some((node) => node.metadata.name !== nodeName && isReady(node))) return true;
  }
  return false;
}

/** How long the presence of another node is believed. */
const FRESH_MS = 30_000;

interface RescheduleOptions {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly nodeName: string;
  readonly signal: AbortSignal;
}

/** Whether the operator's own pods could move to another node. It is remembered during a run, whose pods change many times. */
export class Reschedule {
  readonly #options: RescheduleOptions;
  #presumed: Promise<boolean> | undefined;
  #freshUntil = -Infinity;

  constructor(options: RescheduleOptions) {
    this.#options = options;
  }

  /** Only for the count, while other pods are left. If the API does not answer, it says yes, so that the drain of the others continues. */
  isPresumed(): Promise<boolean> {
    return (this.#presumed ??= this.#ask().catch(() => true));
  }

  /**
   * Asked when it is their turn to be evicted. Once it was possible, it stays so while the API does not answer: an outage ends no run.
   * @throws what the transport throws, where it has not been possible before
   */
  async isPossible(): Promise<boolean> {
    const { clock } = this.#options;
    if (clock.monotonic() < this.#freshUntil) return true;
    try {
      const isPossible = await this.#ask();
      if (isPossible) this.#freshUntil = clock.monotonic() + FRESH_MS;
      return isPossible;
    } catch (error) {
      if (this.#freshUntil === -Infinity) throw error;
      return true;
    }
  }

  #ask(): Promise<boolean> {
    const { transport, nodeName, signal } = this.#options;
    return otherNodeTakesPods(transport, nodeName, signal);
  }
}
