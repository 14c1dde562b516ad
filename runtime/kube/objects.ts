import type { PolicyObject } from '../policy/model.ts';
import type { ReleaseObject } from '../release/model.ts';
import type { Shadow } from '../shadow/model.ts';
import { instantOf } from '../lib/clock.ts';
import type { LabelSelector } from '../lib/selector.ts';

/**
 * Kubernetes objects as the API server sends them, cut down to the fields that this operator reads or writes. Times are RFC 3339 text. Null
 * and absent mean the same: the API server sends null for a time that was never set wherever its own type holds times by value.
 */
export type Time = string | null;

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Grows with each change of the spec. */
  readonly generation?: number;
  readonly creationTimestamp?: Time;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[] | null;
}

/** Which fields somebody was the last to change. */
export interface ManagedFields {
  /** The User-Agent up to its slash, where the writer has named none. */
  readonly manager?: string;
  /** Each field is `f:` and its name. */
  readonly fieldsV1?: { readonly [field: string]: object } | null;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface KubeList<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[];
}

/**
 * Whether resourceVersion `seen` is `wanted` or later. The API server's versions are numbers of one growing sequence. Versions that are
 * no numbers can only be compared for equality.
 */
export function isAsNewAs(seen: string | undefined, wanted: string): boolean {
  if (seen === undefined) return false;
  if (!/^\d+$/.test(seen) || !/^\d+$/.test(wanted)) return seen === wanted;
  return BigInt(seen) >= BigInt(wanted);
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: Time;
}

/** Whether the condition `Ready` is true, of a Node or a Pod. */
export function isReady({ status }: { readonly status?: { readonly conditions?: readonly Condition[] } }): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

/** Since when that has been so, as stated: milliseconds since the Unix epoch. Undefined where it is not so, or nobody knows. */
export function readySince({ status }: Pick<Node, 'status'>): number | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? instantOf(ready.lastTransitionTime) : undefined;
}

export interface Node extends KubeObject {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly effect: string; readonly timeAdded?: string | null }[];
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly nodeInfo?: { readonly osImage?: string; readonly bootID?: string };
    /** By the kubelet: unique names of volumes, e.g. `kubernetes.io/csi/ebs.csi.aws.com^vol-1`. */
    readonly volumesInUse?: readonly string[] | null;
  };
}

function ownFields({ managedFields }: ObjectMeta): Pick<ObjectMeta, 'managedFields'> {
  return managedFields ? { managedFields: managedFields.filter(({ manager }) => manager?.startsWith('brupop-')) } : {};
}

/**
 * A Node without what is not read, above all its images and others' `managedFields`: tens of KB that would be held for as long as something
 * happens to it.
 */
export function nodeFields({ metadata, spec, status }: Node): Node {
  const { name, uid, resourceVersion, creationTimestamp, labels, annotations } = metadata;
  const { conditions, nodeInfo, volumesInUse } = status ?? {};
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(creationTimestamp && { creationTimestamp }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...ownFields(metadata),
    },
    ...(spec && { spec: { ...(spec.unschedulable !== undefined && { unschedulable: spec.unschedulable }) } }),
    status: { ...(conditions && { conditions }), ...(nodeInfo && { nodeInfo }), ...(volumesInUse && { volumesInUse }) },
  };
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: 'Exists' | 'Equal';
  readonly value?: string;
  readonly effect?: string;
}

interface Terminated {
  readonly finishedAt?: Time;
  /** What its process has left in its termination log. */
  readonly message?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly state?: {
    readonly running?: { readonly startedAt?: Time } | null;
    readonly waiting?: object | null;
    readonly terminated?: Terminated | null;
  };
  readonly lastState?: { readonly terminated?: Terminated | null };
}

interface PodVolume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string } | null;
  /** The pod has a claim of its own for it. */
  readonly ephemeral?: object | null;
}

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly tolerations?: readonly Toleration[];
    readonly terminationGracePeriodSeconds?: number;
    /** Of its priority class. */
    readonly priority?: number | null;
    readonly volumes?: readonly PodVolume[] | null;
  };
  readonly status?: {
    readonly phase?: string;
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly conditions?: readonly Condition[];
  };
}

/** Whether all containers of the pod have ended for good. */
export function isPodTerminal({ status }: Pick<Pod, 'status'>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export interface TokenReview {
  readonly spec: { readonly token: string; readonly audiences: readonly string[] };
  readonly status?: {
    readonly authenticated?: boolean;
    readonly error?: string;
    readonly audiences?: readonly string[];
    readonly user?: {
      readonly username?: string;
      readonly uid?: string;
      readonly groups?: readonly string[];
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

export interface CustomResourceDefinition extends KubeObject {
  readonly spec?: {
    readonly versions?: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly storage: boolean;
      readonly schema?: { readonly openAPIV3Schema?: object };
    }[];
  };
  readonly status?: { readonly storedVersions?: readonly string[] };
}

export interface PodDisruptionBudget extends KubeObject {
  readonly spec?: {
    readonly selector?: LabelSelector | null;
    readonly unhealthyPodEvictionPolicy?: 'IfHealthyBudget' | 'AlwaysAllow';
  };
  /** Kept by the disruption controller. */
  readonly status?: {
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly expectedPods?: number;
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}

/** A BottlerocketShadow as the API server sends it, validated by the CRD that is served. That may be older than ours. */
export type ShadowObject = KubeObject & Pick<Shadow, 'spec' | 'status'>;

/** A BottlerocketRelease as the API server sends it. */
export type ReleaseResource = KubeObject & ReleaseObject;

/** A BottlerocketUpdatePolicy as the API server sends it. */
export type UpdatePolicyObject = KubeObject & Pick<PolicyObject, 'spec' | 'status'>;
