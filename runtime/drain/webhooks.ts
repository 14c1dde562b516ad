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

/**
 * The Services whose only ready pods are on the node, and that serve webhooks for nodes, pods or evictions with `failurePolicy: Fail`: without them
 * nothing can be evicted, cordoned or released. @throws as `KubeTransport.request`
 */
export async function lastBackendsOn(transport: KubeTransport, node: string): Promise<readonly LastBackend[]> {
  const lists = await Promise.all(
    CONFIGURATIONS.map((path) => listAll(transport, { path, project: webhooksIn, pageSize: SMALL_PAGE_SIZE })),
  );
  const served = lists.flat(2).filter(stopsDrains);
  const byService = Map.groupBy(served, ({ clientConfig }) => nameOf(clientConfig?.service));
  const found = [...byService].map(async ([service, webhooks]): Promise<readonly LastBackend[]> => {
    const of = webhooks[0]?.clientConfig?.service;
    return of && (await isAlone(transport, of, node)) ? [{ service, webhooks: webhooks.map(({ name }) => name) }] : [];
  });
  return (await Promise.all(found)).flat();
}

const webhooksIn = ({ webhooks }: WebhookConfiguration): readonly Webhook[] => webhooks ?? [];

const nameOf = (service: ServiceReference | undefined): string => `${service?.namespace}/${service?.name}`;

/** Version v1 of the API fails where nothing is said. */
function stopsDrains({ failurePolicy, clientConfig, rules }: Webhook): boolean {
  return failurePolicy !== 'Ignore' && clientConfig?.service !== undefined && (rules ?? []).some(coversDrains);
}

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
