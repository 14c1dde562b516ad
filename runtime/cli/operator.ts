import { Collection } from '../kube/collection.ts';
import { ApiStatusError } from '../kube/errors.ts';
import type { CustomResourceDefinition, KubeObject } from '../kube/objects.ts';
import { collectionPath } from '../kube/paths.ts';
import { crdsOf } from '../kube/resources.ts';
import type { KubeTransport } from '../kube/transport.ts';
import { CONTROLLER_DEPLOYMENT, CRD_NAME } from '../api/shadow/names.ts';
import { type Cluster, type CommandRequest, RefusedCommandError } from './command.ts';
import { workloadsOf } from './deployed-settings.ts';
import { ifAllowed, type Read } from './reading.ts';

/** The namespace of the apiserver that converts shadows; undefined where the definition names none, or may not be read. */
export async function webhookNamespace(transport: KubeTransport): Promise<string | undefined> {
  const { value }: Read<CustomResourceDefinition | undefined> = await ifAllowed(
    crdsOf(transport).get(CRD_NAME),
    undefined,
  );
  return value?.spec?.conversion?.webhook?.clientConfig?.service?.namespace;
}

declare const operated: unique symbol;

/** A cluster whose namespace has the operator. Only such a one is changed: a pause elsewhere would look like one of the fleet. */
export type OperatedCluster = Cluster & { readonly [operated]: true };

/** @throws RefusedCommandError where the namespace does not have the operator, or nobody said which of several is meant; and as `connect` */
export async function connectToOperator({ connect, values }: CommandRequest): Promise<OperatedCluster> {
  const cluster = await connect();
  const { namespace } = cluster;
  const homes = await operatorNamespaces(cluster);
  if (homes.length > 1 && values['namespace'] === undefined)
    throw new RefusedCommandError(
      `there are operators in ${homes.join(' and ')}: say with -n which one you mean; nothing was changed`,
    );
  if (homes.includes(namespace)) return cluster as OperatedCluster;
  const where = homes.length > 0 ? `, which is in ${homes.join(' and ')}` : '';
  throw new RefusedCommandError(
    `namespace ${namespace} does not have the operator (Deployment ${CONTROLLER_DEPLOYMENT})${where}: nothing was changed`,
  );
}

/** The namespaces with a controller. A user who may not list all Deployments finds the cluster's own namespace, or none. */
async function operatorNamespaces(cluster: Cluster): Promise<readonly string[]> {
  const { transport, namespace } = cluster;
  const deployments = collectionPath({ group: 'apps', version: 'v1', plural: 'deployments' });
  const fieldSelector = `metadata.name=${CONTROLLER_DEPLOYMENT}`;
  const all = await ifAllowed(new Collection<KubeObject>(transport, deployments).list({ fieldSelector }), undefined);
  if (all.value) return all.value.flatMap((one) => one.metadata.namespace ?? []).toSorted();
  try {
    return (await workloadsOf(cluster, 'deployments').get(CONTROLLER_DEPLOYMENT)) ? [namespace] : [];
  } catch (error) {
    if (!(error instanceof ApiStatusError) || (await webhookNamespace(transport)) !== namespace) throw error;
    return [namespace];
  }
}
