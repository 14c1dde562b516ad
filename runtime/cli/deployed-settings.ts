import { type ControllerConfig, readControllerConfig } from '../controller/config.ts';
import { Collection } from '../kube/collection.ts';
import type { Container, Workload } from '../kube/objects.ts';
import { collectionPath } from '../kube/paths.ts';
import { podsOf } from '../kube/resources.ts';
import { COMPONENTS, CONTROLLER_DEPLOYMENT } from '../api/shadow/names.ts';
import type { Cluster } from './command.ts';
import { ifAllowed, selecting } from './reading.ts';

/** The controller's settings cannot be found, so its decisions cannot be predicted. */
export class UnknownSettingsError extends Error {
  override readonly name = 'UnknownSettingsError';
}

type Reference = { readonly name?: string } | undefined;

export function workloadsOf({ transport, namespace }: Cluster, plural: string): Collection<Workload> {
  return new Collection(transport, collectionPath({ group: 'apps', version: 'v1', plural, namespace }));
}

interface DeployedSettings {
  readonly config: ControllerConfig;
  /** Facts that are not known, each with what is assumed instead. */
  readonly unknown: readonly string[];
}

/** The settings in the controller's Deployment. @throws UnknownSettingsError, EnvError, and as `KubeTransport.request` */
export async function deployedSettings(
  cluster: Cluster,
  overrides: Readonly<Record<string, string>> = {},
): Promise<DeployedSettings> {
  const [deployment, pods] = await Promise.all([
    ifAllowed(workloadsOf(cluster, 'deployments').get(CONTROLLER_DEPLOYMENT), {}),
    ifAllowed(podsOf(cluster.transport, cluster.namespace).list(selecting(COMPONENTS.controller)), []),
  ]);
  if (deployment.refused !== undefined) {
    const sentence = `the controller's settings, since you may not read its Deployment (${deployment.refused}): defaults are assumed`;
    return { config: readControllerConfig({ ...overrides, MY_NODE_NAME: 'none' }), unknown: [sentence] };
  }
  if (!deployment.value)
    throw new UnknownSettingsError(
      `namespace ${cluster.namespace} has no Deployment ${CONTROLLER_DEPLOYMENT}: -n names the operator's namespace`,
    );
  const [container = {}] = containersOf(deployment.value as Workload);
  const ownNode = pods.value[0]?.spec?.nodeName ?? 'none';
  return {
    config: readControllerConfig({ ...literalsOf(container), ...overrides, MY_NODE_NAME: ownNode }),
    unknown: unreadOf(container),
  };
}

export const containersOf = ({ spec }: Workload): readonly Partial<Container>[] =>
  spec?.template?.spec?.containers ?? [];

/** The variables whose values are in the Deployment itself. */
function literalsOf({ env }: Partial<Container>): Record<string, string | undefined> {
  return Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
}

/** Variables from ConfigMaps and Secrets. They are not read, because people who may read a Deployment may often not read those. */
function unreadOf({ env, envFrom }: Partial<Container>): readonly string[] {
  const named = (env ?? []).flatMap(({ name, valueFrom }) => {
    const source = sourceOf(valueFrom?.configMapKeyRef, valueFrom?.secretKeyRef);
    return source === undefined ? [] : [`${name}, which ${source} sets: its default is assumed`];
  });
  const whole = (envFrom ?? []).flatMap(({ configMapRef, secretRef }) => sourceOf(configMapRef, secretRef) ?? []);
  return [...named, ...whole.map((source) => `what ${source} sets besides: defaults are assumed`)];
}

function sourceOf(configMap: Reference, secret: Reference): string | undefined {
  if (configMap) return `ConfigMap ${configMap.name}`;
  return secret ? `Secret ${secret.name}` : undefined;
}
