import {
  containersOf,
  type ContainerStatus,
  isPodTerminal,
  type OwnerReference,
  type Pod,
  waitingReasons,
} from '../../kube/objects.ts';
import { instantOf, MINUTE_MS } from '../../lib/clock.ts';

/** A pod has so long to become Ready, and a node to come up. */
export const GRACE_MS = 5 * MINUTE_MS;

/** What ails a pod: its image cannot be had, it does not get as far as its containers (network, volumes), it crashes again and again, or it is not Ready. */
export type Ailment = 'image' | 'sandbox' | 'crash' | 'unready';

/** A pod, as far as it tells of what it runs on. */
export interface Witness {
  /** `namespace/name`. */
  readonly name: string;
  readonly node: string;
  readonly owner: { readonly kind: string; readonly name: string; readonly uid: string };
  /** What its peers have as well: they are of the same revision of the same owner. */
  readonly labels: Readonly<Record<string, string>>;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** `undefined`: it is too early to say. */
  readonly health: 'well' | Ailment | undefined;
  /** Since when it is not Ready, as stated. */
  readonly unreadySince: number | undefined;
}

/** Of owners whose pods end by themselves, or on their one node. */
const ELSE: ReadonlySet<string> = new Set(['Job', 'Node']);
/** Labels that each pod of a StatefulSet or a Job has for itself. */
const OWN_LABELS: ReadonlySet<string> = new Set([
  'statefulset.kubernetes.io/pod-name',
  'apps.kubernetes.io/pod-index',
  'batch.kubernetes.io/job-completion-index',
]);

/** Undefined for a pod that tells nothing: nothing makes it anew, it is over, or it ends. @param now milliseconds since the Unix epoch */
export function witnessOf(pod: Pod, now: number): Witness | undefined {
  const { namespace = '', name, labels, creationTimestamp } = pod.metadata;
  const owner = ownerOf(pod);
  const node = pod.spec?.nodeName;
  if (!owner || !node) return undefined;
  const createdAt = instantOf(creationTimestamp) ?? now;
  const unreadySince = unreadySinceOf(pod, createdAt);
  return {
    name: `${namespace}/${name}`,
    node,
    owner: { kind: owner.kind, name: owner.name, uid: owner.uid },
    labels: Object.fromEntries(Object.entries(labels ?? {}).filter(([key]) => !OWN_LABELS.has(key))),
    createdAt,
    health: healthOf(pod, { createdAt, unreadySince, now }),
    unreadySince,
  };
}

function ownerOf(pod: Pod): OwnerReference | undefined {
  const { ownerReferences, deletionTimestamp } = pod.metadata;
  const owner = ownerReferences?.find(({ controller }) => controller);
  const isOver = deletionTimestamp != null || isPodTerminal(pod);
  return owner && !isOver && !ELSE.has(owner.kind) ? owner : undefined;
}

function unreadySinceOf({ status }: Pod, createdAt: number): number | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? undefined : (instantOf(ready?.lastTransitionTime) ?? createdAt);
}

interface Times {
  readonly createdAt: number;
  readonly unreadySince: number | undefined;
  readonly now: number;
}

const IMAGE: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ImageInspectError',
  'ErrImageNeverPull',
  'RegistryUnavailable',
]);
const STARTING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);
/** Less often may be a start that waits for another. */
const CRASHES = 3;

function healthOf(pod: Pod, { createdAt, unreadySince, now }: Times): Witness['health'] {
  if (now - createdAt < GRACE_MS) return undefined;
  if (containersOf(pod).some(isCrashing)) return 'crash';
  if (unreadySince === undefined) return 'well';
  return now - unreadySince < GRACE_MS ? undefined : ailmentOf(pod);
}

const isCrashing = ({ state, restartCount }: ContainerStatus): boolean =>
  state?.waiting?.reason === 'CrashLoopBackOff' && restartCount >= CRASHES;

function ailmentOf(pod: Pod): Ailment {
  const reasons = waitingReasons(pod);
  if (reasons.some((reason) => IMAGE.has(reason))) return 'image';
  return reasons.some((reason) => STARTING.has(reason)) || containersOf(pod).length === 0 ? 'sandbox' : 'unready';
}
