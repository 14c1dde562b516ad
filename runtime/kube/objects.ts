import type {
  AdmissionregistrationV1ServiceReference,
  CoreV1Event,
  V1ConfigMap,
  V1Container,
  V1ContainerStatus,
  V1CronJob,
  V1CustomResourceDefinition,
  V1DaemonSetStatus,
  V1DeploymentSpec,
  V1DeploymentStatus,
  V1Endpoint,
  V1EndpointSlice,
  V1Job,
  V1Lease,
  V1ManagedFieldsEntry,
  V1MutatingWebhookConfiguration,
  V1Node,
  V1NodeCondition,
  V1ObjectMeta,
  V1ObjectReference,
  V1OwnerReference,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1TokenReview,
  V1Toleration,
  V1ValidatingWebhook,
  V1ValidatingWebhookConfiguration,
} from '@kubernetes/client-node';
import { instantOf } from '../lib/clock.ts';

/** RFC 3339. Null and absent mean the same: the API server sends null for a time that was never set wherever its own type holds it by value. */
export type Time = string | null;

/** One of client-node's types as the API server sends it: times are text, and nobody writes into what was read. */
export type Json<T> = T extends Date
  ? Time
  : T extends readonly (infer Item)[]
    ? readonly Json<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Json<T[Key]> }
      : T;

/** A kind of client-node's. What others wrote is not validated again: of `spec` and `status`, each field may be missing. */
export type Resource<T> = KubeObject & {
  readonly [Key in Exclude<keyof T, keyof KubeObject>]?: Key extends 'spec' | 'status'
    ? Partial<Json<NonNullable<T[Key]>>>
    : Json<T[Key]>;
};

export type OwnerReference = Json<V1OwnerReference>;
export type ObjectReference = Json<V1ObjectReference> &
  Required<Pick<Json<V1ObjectReference>, 'apiVersion' | 'kind' | 'name'>>;
export type Condition = Json<V1NodeCondition>;
export type Toleration = Json<V1Toleration>;
export type Container = Json<V1Container>;
export type ContainerStatus = Json<V1ContainerStatus>;
export type ServiceReference = Json<AdmissionregistrationV1ServiceReference>;
export type Webhook = Json<V1ValidatingWebhook>;
export type Endpoint = Json<V1Endpoint>;

export type Node = Resource<V1Node>;
export type Pod = Resource<V1Pod>;
export type Lease = Resource<V1Lease>;
export type TokenReview = Pick<Json<V1TokenReview>, 'spec' | 'status'>;
export type ConfigMap = Resource<V1ConfigMap>;
export type Job = Resource<V1Job>;
export type CronJob = Resource<V1CronJob>;
/** Of the pods of a Job. */
export type JobTemplate = NonNullable<Json<V1Job>['spec']>['template'] | undefined;
export type CoreEvent = Resource<CoreV1Event>;
/** Its schemas have names of client-node's own, such as `_enum`: what is sent is the JSON schema itself. */
export type CustomResourceDefinition = Resource<V1CustomResourceDefinition>;
export type PodDisruptionBudget = Resource<V1PodDisruptionBudget>;
export type PersistentVolume = Resource<V1PersistentVolume>;
export type PersistentVolumeClaim = Resource<V1PersistentVolumeClaim>;
export type EndpointSlice = Resource<V1EndpointSlice>;
export type WebhookConfiguration = Resource<V1ValidatingWebhookConfiguration | V1MutatingWebhookConfiguration>;

/** What a Deployment and a DaemonSet have. */
export interface Workload extends KubeObject {
  readonly spec?: Partial<Json<V1DeploymentSpec>>;
  readonly status?: Partial<Json<V1DeploymentStatus & V1DaemonSetStatus>>;
}

/** The metadata of an object that is stored. */
export interface ObjectMeta extends Omit<Json<V1ObjectMeta>, 'managedFields'> {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Never null: a time that the server holds by reference is left out. */
  readonly deletionTimestamp?: string;
  readonly managedFields?: readonly ManagedFields[] | null;
}

/** Which fields somebody was the last to change. */
export interface ManagedFields extends Omit<Json<V1ManagedFieldsEntry>, 'fieldsV1'> {
  /** Each field is `f:` and its name. */
  readonly fieldsV1?: { readonly [field: string]: object } | null;
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

/** Whether the condition `Ready` is true, of a Node or a Pod. */
export function isReady({ status }: { readonly status?: { readonly conditions?: readonly Condition[] } }): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

/** Since when that has been so, as stated: milliseconds since the Unix epoch. Undefined where it is not so, or nobody knows. */
export function readySince({ status }: Pick<Node, 'status'>): number | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? instantOf(ready.lastTransitionTime) : undefined;
}

/** Its init containers first. */
export const containersOf = ({ status }: Pick<Pod, 'status'>): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

/** Why its containers do not run yet, each in one word: `ImagePullBackOff`. */
export const waitingReasons = (pod: Pick<Pod, 'status'>): readonly string[] =>
  containersOf(pod).flatMap(({ state }) => state?.waiting?.reason ?? []);

/** Whether all containers of the pod have ended for good. */
export function isPodTerminal({ status }: Pick<Pod, 'status'>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
