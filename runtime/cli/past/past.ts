import { nodesOf, shadowsOf } from '../../kube/resources.ts';
import { KIND, shadowName } from '../../shadow/names.ts';
import { type Cluster, RefusedCommandError } from '../command.ts';
import { policiesIn } from '../inspect.ts';
import { ifAllowed } from '../reading.ts';
import { isOurs, type Moment, ofEvent, ofNode, ofPolicy, ofShadow } from './moments.ts';
import { about, DEFAULT_NAMESPACE, eventsIn } from './reading.ts';

/** What is known of what happened; in no order. */
export interface Past {
  readonly moments: readonly Moment[];
  readonly unknown: readonly string[];
}

/** Of a node. @throws RefusedCommandError where nothing is known of it, and as `KubeTransport.request` */
export async function ofOne(cluster: Cluster, name: string): Promise<Past> {
  const { transport, namespace } = cluster;
  const shadow = shadowName(name);
  const [node, object, onNode, onShadow] = await Promise.all([
    nodesOf(transport).get(name),
    shadowsOf(transport, namespace).get(shadow),
    eventsIn(cluster, DEFAULT_NAMESPACE, about('Node', name)),
    eventsIn(cluster, namespace, about(KIND, shadow)),
  ]);
  const events = [...onNode.events, ...onShadow.events].flatMap(ofEvent);
  if (!node && !object && events.length === 0) throw new RefusedCommandError(`the cluster has no node ${name}`);
  const stated = [...(node ? ofNode(node) : []), ...(object ? ofShadow(object) : [])];
  return { moments: [...events, ...stated], unknown: [...onNode.unknown, ...onShadow.unknown] };
}

/** What the operator has told by Events. @throws as `KubeTransport.request` */
export async function eventsOfFleet(cluster: Cluster): Promise<Past> {
  const read = await Promise.all(
    [cluster.namespace, DEFAULT_NAMESPACE].map((namespace) => eventsIn(cluster, namespace, {})),
  );
  const events = read.flatMap((one) => one.events).filter(isOurs);
  return { moments: events.flatMap(ofEvent), unknown: read.flatMap((one) => one.unknown) };
}

/** Of the fleet: what the operator has told, and what its objects remember. @throws as `KubeTransport.request` */
export async function ofFleet(cluster: Cluster): Promise<Past> {
  const { transport, namespace } = cluster;
  const [told, shadows, policies] = await Promise.all([
    eventsOfFleet(cluster),
    shadowsOf(transport, namespace).list(),
    ifAllowed(policiesIn(transport), []),
  ]);
  const lasting = shadows.flatMap(ofShadow).filter(({ reason }) => LASTING.has(reason));
  const unread =
    policies.refused === undefined ? [] : [`update policies, which you may not list (${policies.refused})`];
  return {
    moments: [...told.moments, ...lasting, ...policies.value.flatMap(ofPolicy)],
    unknown: [...told.unknown, ...unread],
  };
}

/** Of a shadow, what outlives its Events. */
const LASTING: ReadonlySet<string> = new Set(['LastUpdateFinished', 'Failed']);
