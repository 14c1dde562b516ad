import { listAll, queryOf, SMALL_PAGE_SIZE } from '../kube/collection.ts';
import type { Endpoint, EndpointSlice, ServiceReference, Webhook, WebhookConfiguration } from '../kube/objects.ts';
import { collectionPath } from '../kube/paths.ts';
import type { KubeTransport } from '../kube/transport.ts';

/** A Service that webhooks are served by, and what the API server refuses while it has no pod that is ready. */
export interface LastBackend {
  /** `namespace/name`. */
  readonly service: string;
  readonly webhooks: readonly string[];
}

type Rule = NonNullable<Webhook['rules']>[number];

const CONFIGURATIONS = ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'].map((plural) =>
  collectionPath({ group: 'admissionregistration.k8s.io', version: 'v1', plural }),
);

/** A webhook that a Service serves, and without which nothing can be evicted, cordoned or released. */
export interface FatalWebhook {
  readonly name: string;
  readonly service: ServiceReference;
}

/** The webhooks for nodes, pods or evictions with `failurePolicy: Fail`. @throws as `KubeTransport.request` */
export async function fatalWebhooks(transport: KubeTransport): Promise<readonly FatalWebhook[]> {
  const lists = await Promise.all(
    CONFIGURATIONS.map((path) => listAll(transport, { path, project: fatalIn, pageSize: SMALL_PAGE_SIZE })),
  );
  return lists.flat(2);
}

/** The Services that serve these webhooks, and whose only ready pods are on the node. @throws as `KubeTransport.request` */
export async function lastBackendsOn(
  transport: KubeTransport,
  node: string,
  fatal: readonly FatalWebhook[],
): Promise<readonly LastBackend[]> {
  const byService = Map.groupBy(fatal, ({ service }) => `${service.namespace}/${service.name}`);
  const found = [...byService].map(async ([service, webhooks]): Promise<readonly LastBackend[]> => {
    const of = webhooks[0]?.service;
    return of && (await isAlone(transport, of, node)) ? [{ service, webhooks: webhooks.map(({ name }) => name) }] : [];
  });
  return (await Promise.all(found)).flat();
}

/** Version v1 of the API fails where nothing is said. */
const fatalIn = ({ webhooks }: WebhookConfiguration): readonly FatalWebhook[] =>
  (webhooks ?? []).flatMap(({ name, failurePolicy, clientConfig, rules }) => {
    const service = failurePolicy === 'Ignore' ? undefined : clientConfig?.service;
    return service && (rules ?? []).some(coversDrains) ? { name, service } : [];
  });

const NEEDED = new Set(['nodes', 'pods', 'pods/eviction', 'pods/*', '*/eviction', '*', '*/*']);

function coversDrains({ apiGroups, resources }: Rule): boolean {
  const isCore = (apiGroups ?? []).some((group) => group === '' || group === '*');
  return isCore && (resources ?? []).some((resource) => NEEDED.has(resource));
}

const endpointsIn = ({ endpoints }: EndpointSlice): readonly Endpoint[] => endpoints ?? [];

async function isAlone(
  transport: KubeTransport,
  { namespace, name }: ServiceReference,
  node: string,
): Promise<boolean> {
  const path = collectionPath({ group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', namespace });
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const slices = await listAll(transport, { path, query: queryOf({ labelSelector }), project: endpointsIn });
  const ready = slices.flat().filter(({ conditions }) => conditions?.ready !== false);
  return ready.length > 0 && ready.every(({ nodeName }) => nodeName === node);
}
