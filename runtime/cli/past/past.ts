import { Collection, type Selectors } from '../../kube/collection.ts';
import { shadowsOf } from '../../api/resources.ts';
import type { CoreEvent } from '../../kube/objects.ts';
import { collectionPath } from '../../kube/paths.ts';
import { nodesOf } from '../../kube/resources.ts';
import { EVENT_REPORTERS, KIND, shadowName } from '../../api/shadow/names.ts';
import { type Cluster, RefusedCommandError } from '../command.ts';
import { ifAllowed, readPolicies } from '../reading.ts';
import { type Moment, momentsOfEvent, momentsOfNode, momentsOfPolicy, momentsOfShadow } from './moments.ts';

/** Moments in no order, and which objects could not be read. */
export interface Past {
  readonly moments: readonly Moment[];
  readonly unknown: readonly string[];
}

/** The past of a node. @throws RefusedCommandError where nothing is known of it, and as `KubeTransport.request` */
export async function pastOfNode(cluster: Cluster, name: string): Promise<Past> {
  const { transport, namespace } = cluster;
  const shadow = shadowName(name);
  const [node, object, onNode, onShadow] = await Promise.all([
    nodesOf(transport).get(name),
    shadowsOf(transport, namespace).get(shadow),
    readEvents(cluster, DEFAULT_NAMESPACE, about('Node', name)),
    readEvents(cluster, namespace, about(KIND, shadow)),
  ]);
  const events = [...onNode.events, ...onShadow.events].flatMap(momentsOfEvent);
  if (!node && !object && events.length === 0) throw new RefusedCommandError(`the cluster has no node ${name}`);
  const stated = [...(node ? momentsOfNode(node) : []), ...(object ? momentsOfShadow(object) : [])];
  return { moments: [...events, ...stated], unknown: [...onNode.unknown, ...onShadow.unknown] };
}

/** The operator's Events. `default` may have thousands of others, which are not read. @throws as `KubeTransport.request` */
export async function pastEvents(cluster: Cluster): Promise<Past> {
  const namespaces = [...new Set([cluster.namespace, DEFAULT_NAMESPACE])];
  const read = await Promise.all(
    namespaces.flatMap((namespace) => REPORTERS.map((name) => readEvents(cluster, namespace, reportedBy(name)))),
  );
  const unknown = new Set(read.flatMap((one) => one.unknown));
  return { moments: read.flatMap((one) => one.events).flatMap(momentsOfEvent), unknown: [...unknown] };
}

const REPORTERS = Object.values(EVENT_REPORTERS);

/** Selects the Events that a part of the operator has written. */
const reportedBy = (component: string): Selectors => ({ fieldSelector: `reportingComponent=${component}` });

/** The past of the fleet, from the operator's Events and its objects. @throws as `KubeTransport.request` */
export async function pastOfFleet(cluster: Cluster): Promise<Past> {
  const { transport, namespace } = cluster;
  const [told, shadows, policies] = await Promise.all([
    pastEvents(cluster),
    shadowsOf(transport, namespace).list(),
    ifAllowed(readPolicies(transport), []),
  ]);
  const lasting = shadows.flatMap(momentsOfShadow).filter(({ reason }) => LASTING.has(reason));
  const unread =
    policies.refused === undefined ? [] : [`update policies, which you may not list (${policies.refused})`];
  return {
    moments: [...told.moments, ...lasting, ...policies.value.flatMap(momentsOfPolicy)],
    unknown: [...told.unknown, ...unread],
  };
}

/** Moments of shadows that are still of interest when their Events are gone. */
const LASTING: ReadonlySet<string> = new Set(['LastUpdateFinished', 'Failed']);

/** The namespace of Events on objects without a namespace. */
const DEFAULT_NAMESPACE = 'default';

interface EventsRead {
  readonly events: readonly CoreEvent[];
  /** Why they could not be read. */
  readonly unknown: readonly string[];
}

/** The Events in a namespace, where the user may list them. */
export async function readEvents({ transport }: Cluster, namespace: string, selectors: Selectors): Promise<EventsRead> {
  const collection = new Collection<CoreEvent>(
    transport,
    collectionPath({ version: 'v1', plural: 'events', namespace }),
  );
  const { value, refused } = await ifAllowed(collection.list(selectors), []);
  const unknown = refused === undefined ? [] : [`Events in ${namespace}, which you may not list (${refused})`];
  return { events: value, unknown };
}

/** Selects the Events on one object. */
export const about = (kind: string, name: string): Selectors => ({
  fieldSelector: `involvedObject.kind=${kind},involvedObject.name=${name}`,
});
