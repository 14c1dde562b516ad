import type { Basics } from '../../lib/basics.ts';
import { Collection } from '../../kube/collection.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { collectionPath } from '../../kube/paths.ts';
import type { KubeTransport } from '../../kube/transport.ts';
import { CHANNEL_PLURAL, CHANNEL_VERSION, K3OS_GROUP } from '../../api/k3os/names.ts';
import type { UpdatePolicy } from '../../api/policy/policy.ts';
import { type ControllerConfig, policyOf } from '../config.ts';
import { Freshness } from './freshness.ts';
import type { HostOrder, NodeView, Snapshot } from '../plan/facts/snapshot.ts';
import type { ShadowFacts } from './views.ts';

type Labels = NodeView['labels'];

/** Tells hosts that offer no versions by themselves what to run. */
export interface Orders {
  /** Whether the hosts of nodes with these labels are ordered what to run. */
  manages(labels: Labels): boolean;
  /** What all of these hosts are ordered. The same object for as long as it says the same. */
  order(): HostOrder;
  /** The policies that come with it. Each is the same object for as long as it says the same. */
  policies(): readonly UpdatePolicy[];
  /** Calls `listener` after each change of these. Returns what ends that. */
  onChange(listener: () => void): () => void;
  /** Keeps them true until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** The leader's work for one term: it asks the sources of releases, and writes what they answered. */
  lead(signal: AbortSignal): Promise<void>;
  /** The newest plan of the leader. */
  observe(planned: { readonly snapshot: Snapshot }): void;
}

/** An object that orders are read from. */
type OrderObject = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

/** What orders are made with. */
export interface OrdersParts extends Basics {
  readonly informer: Pick<Informer<OrderObject, OrderObject>, 'items' | 'onChange' | 'run'>;
  readonly objects: Pick<Collection<OrderObject>, 'create' | 'patch'>;
  /** Whether the objects are known to be current. */
  readonly freshness: Pick<Freshness, 'lost' | 'onChange'>;
  readonly variables: UpdatePolicy;
  readonly config: ControllerConfig;
}

export type OrdersFactory = (parts: OrdersParts) => Orders;

/** Of the UpdateChannels in a namespace. */
export function channelsPath(namespace: string): string {
  return collectionPath({ group: K3OS_GROUP, version: CHANNEL_VERSION, plural: CHANNEL_PLURAL, namespace });
}

interface OrdersAccess extends Pick<OrdersParts, 'config' | 'clock' | 'random' | 'logger'> {
  readonly transport: KubeTransport;
}

/** The orders that `ordersOf` makes of the cluster's channels. */
export function ordersBy(ordersOf: OrdersFactory, access: OrdersAccess): Orders {
  const { transport, config } = access;
  const path = channelsPath(config.K3OS_NAMESPACE);
  // Of their own: while they cannot be read, only the nodes that they are about wait.
  const freshness = new Freshness(access);
  const informer = freshness.informer<OrderObject, OrderObject>('channels', { ...access, path, project: orderOnly });
  const objects = new Collection<OrderObject>(transport, path);
  const orders = ordersOf({ ...access, informer, freshness, objects, variables: policyOf(config) });
  return {
    ...orders,
    run: async (signal) => void (await Promise.all([orders.run(signal), freshness.run(signal)])),
    lead: async (signal) => void (await Promise.all([orders.lead(signal), freshness.renew(signal)])),
  };
}

/** Only what is read: a change of anything else, e.g. of `managedFields`, is no reason to plan. */
function orderOnly({ metadata, spec, status }: OrderObject): OrderObject {
  const { name, namespace = '', uid, resourceVersion, deletionTimestamp } = metadata;
  const kept = { name, namespace, uid, resourceVersion, ...(deletionTimestamp !== undefined && { deletionTimestamp }) };
  return { metadata: kept, spec, status };
}

/** Shadows whose target is what their hosts are ordered, in the place of what they offer. An unchanged shadow is the same object as before. */
export class OrderedShadows {
  readonly #orders: Pick<Orders, 'manages' | 'order'>;
  readonly #known = new WeakMap<ShadowFacts, { readonly order: HostOrder; readonly ordered: ShadowFacts }>();

  constructor(orders: Pick<Orders, 'manages' | 'order'>) {
    this.#orders = orders;
  }

  of(shadows: readonly ShadowFacts[], nodes: readonly Pick<NodeView, 'shadowName' | 'labels'>[]): ShadowFacts[] {
    const order = this.#orders.order();
    const managed = new Set(
      nodes.flatMap(({ shadowName, labels }) => (this.#orders.manages(labels) ? shadowName : [])),
    );
    return shadows.map((shadow) => (managed.has(shadow.name) ? this.#ordered(shadow, order) : shadow));
  }

  #ordered(shadow: ShadowFacts, order: HostOrder): ShadowFacts {
    const known = this.#known.get(shadow);
    if (known?.order === order) return known.ordered;
    const ordered = orderedShadow(shadow, order);
    this.#known.set(shadow, { order, ordered });
    return ordered;
  }
}

function orderedShadow({ status, ...shadow }: ShadowFacts, order: HostOrder): ShadowFacts {
  if (!status) return { ...shadow, status, order };
  return { ...shadow, order, status: { ...status, target_version: order.version ?? status.current_version } };
}
