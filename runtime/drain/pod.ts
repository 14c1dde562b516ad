import { type ListRequest, SMALL_PAGE_SIZE } from '../kube/collection.ts';
import { isReady, type ObjectMeta, type OwnerReference, type Pod } from '../kube/objects.ts';
import { onNode, podsPath } from '../kube/resources.ts';
import { KARPENTER_ANNOTATION } from '../api/marks/names.ts';
import { instantOf } from '../lib/clock.ts';
import { needsOf, type PodNeeds, tolerates } from './needs.ts';

/**
 * All that a drain reads of a pod. A pod as it is sent takes 20 KB with its containers and `managedFields`, so that a hundred nodes of them
 * do not fit into memory. It is cut down to this as soon as it is read, and its page or event is freed.
 */
export interface DrainPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** What budgets select by. */
  readonly labels: Readonly<Record<string, string>>;
  /** What makes the pod anew where it goes; undefined where nothing does. */
  readonly controller: Pick<OwnerReference, 'apiVersion' | 'kind' | 'name' | 'uid'> | undefined;
  /** Of a static pod, which the kubelet alone can end. */
  readonly isMirror: boolean;
  /** Milliseconds since the Unix epoch; undefined where it cannot be read. */
  readonly created: number | undefined;
  /** When it should have ended (RFC 3339); undefined where nobody has told it to. */
  readonly due: string | undefined;
  /** How long it may take to end, from when it is told to. Of one that was told already, as it was told. */
  readonly graceSeconds: number;
  readonly toleratesCordon: boolean;
  /** It asks autoscalers to leave it alone. */
  readonly doNotDisrupt: boolean;
  /** Whether it has a system priority, as what other pods need to run and to end: storage, DNS. */
  readonly isCritical: boolean;
  readonly phase: string | undefined;
  readonly isReady: boolean;
  /** Names of its PersistentVolumeClaims. */
  readonly claims: readonly string[];
  /** What the node has to have that it goes to; undefined where it asks for nothing. */
  readonly needs?: PodNeeds | undefined;
}

/** The least priority that is Kubernetes' own (`system-cluster-critical`). */
const SYSTEM_PRIORITY = 2_000_000_000;
/** Of the cluster autoscaler. Karpenter's is the same on pods as on nodes. */
const SAFE_TO_EVICT = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const CORDON_TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

export function drainPod(pod: Pod): DrainPod {
  const { metadata, spec = {}, status = {} } = pod;
  const { uid, namespace = '', name, labels = {}, annotations = {}, deletionGracePeriodSeconds } = metadata;
  return {
    uid,
    namespace,
    name,
    labels,
    controller: controllerOf(metadata),
    isMirror: annotations[MIRROR_ANNOTATION] !== undefined,
    created: instantOf(metadata.creationTimestamp),
    due: metadata.deletionTimestamp,
    graceSeconds: deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 0,
    doNotDisrupt: asksForPeace(annotations),
    toleratesCordon: (spec.tolerations ?? []).some((one) => tolerates(one, CORDON_TAINT)),
    isCritical: (spec.priority ?? 0) >= SYSTEM_PRIORITY,
    phase: status.phase,
    isReady: isReady(pod),
    claims: claimsOf(pod),
    needs: needsOf(pod),
  };
}

function controllerOf({ ownerReferences }: ObjectMeta): DrainPod['controller'] {
  const owner = ownerReferences?.find(({ controller }) => controller);
  if (!owner) return undefined;
  const { apiVersion, kind, name, uid } = owner;
  return { apiVersion, kind, name, uid };
}

const asksForPeace = (annotations: NonNullable<ObjectMeta['annotations']>): boolean =>
  annotations[KARPENTER_ANNOTATION] === 'true' || annotations[SAFE_TO_EVICT] === 'false';

/** An ephemeral claim is named after its pod and its volume. */
function claimsOf({ metadata: { name }, spec }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap((volume) =>
    volume.ephemeral ? `${name}-${volume.name}` : (volume.persistentVolumeClaim?.claimName ?? []),
  );
}

/** `namespace/name`. */
export function podName({ namespace, name }: Pick<DrainPod, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

/** What makes the pod anew: its controller, or whoever has given it its name. */
export function originOf(pod: DrainPod): string {
  return pod.controller?.uid ?? podName(pod);
}

/** Whether all containers of the pod have ended for good. */
export function isFinished({ phase }: DrainPod): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** How the pods on a node are read, whether they are listed or watched. */
export function podsOn(nodeName: string): ListRequest<Pod, DrainPod> {
  return { path: podsPath(), query: { fieldSelector: onNode(nodeName) }, project: drainPod, pageSize: SMALL_PAGE_SIZE };
}
