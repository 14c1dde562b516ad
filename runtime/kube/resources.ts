import { Collection, type VersionedPatch } from './collection.ts';
import type {
  ConfigMap,
  CronJob,
  CustomResourceDefinition,
  Job,
  KubeObject,
  Lease,
  Node,
  Pod,
  PodDisruptionBudget,
} from './objects.ts';
import { collectionPath } from './paths.ts';
import type { KubeTransport } from './transport.ts';

/** The collections of Kubernetes' own resources that are asked for. A consumer takes the verbs that it needs: `Pick<Collection<Pod>, 'list'>`. */

export const NODES_PATH = collectionPath({ version: 'v1', plural: 'nodes' });
export const NAMESPACES_PATH = collectionPath({ version: 'v1', plural: 'namespaces' });

/** Of all namespaces. */
export const BUDGETS_PATH = collectionPath({ group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' });

/** @param namespace all of them where undefined */
export function podsPath(namespace?: string): string {
  return collectionPath({ version: 'v1', plural: 'pods', namespace });
}

/** A Node has many writers, so each patch of one carries the resourceVersion that it was decided on. */
export function nodesOf(transport: KubeTransport): Collection<Node, VersionedPatch> {
  return new Collection(transport, NODES_PATH);
}

export function namespacesOf(transport: KubeTransport): Collection<KubeObject> {
  return new Collection(transport, NAMESPACES_PATH);
}

/** Of one namespace. Those of all can only be listed. */
export function podsOf(transport: KubeTransport, namespace: string): Collection<Pod>;
export function podsOf(transport: KubeTransport): Pick<Collection<Pod>, 'list'>;
export function podsOf(transport: KubeTransport, namespace?: string): Collection<Pod> {
  return new Collection(transport, podsPath(namespace));
}

/** Field selector of the pods that are bound to a node. */
export function onNode(nodeName: string): string {
  return `spec.nodeName=${nodeName}`;
}

export function leasesOf(transport: KubeTransport, namespace: string): Collection<Lease> {
  const group = 'coordination.k8s.io';
  return new Collection(transport, collectionPath({ group, version: 'v1', plural: 'leases', namespace }));
}

export function configMapsPath(namespace: string): string {
  return collectionPath({ version: 'v1', plural: 'configmaps', namespace });
}

export function configMapsOf(transport: KubeTransport, namespace: string): Collection<ConfigMap> {
  return new Collection(transport, configMapsPath(namespace));
}

export function jobsOf(transport: KubeTransport, namespace: string): Collection<Job> {
  return new Collection(transport, collectionPath({ group: 'batch', version: 'v1', plural: 'jobs', namespace }));
}

export function cronJobsOf(transport: KubeTransport, namespace: string): Collection<CronJob> {
  return new Collection(transport, collectionPath({ group: 'batch', version: 'v1', plural: 'cronjobs', namespace }));
}

/** Of all namespaces. */
export function budgetsOf(transport: KubeTransport): Pick<Collection<PodDisruptionBudget>, 'list'> {
  return new Collection(transport, BUDGETS_PATH);
}

export function crdsOf(transport: KubeTransport): Collection<CustomResourceDefinition> {
  const group = 'apiextensions.k8s.io';
  return new Collection(transport, collectionPath({ group, version: 'v1', plural: 'customresourcedefinitions' }));
}
