import type { Collection, VersionedPatch } from '../kube/collection.ts';
import type { Node, PodDisruptionBudget } from '../kube/objects.ts';
import type { EventRecord } from '../kube/event-recorder.ts';
import type { EvictionPort } from '../kube/evictions.ts';
import type { KubeTransport } from '../kube/transport.ts';
import type { VolumePort } from '../kube/volumes.ts';
import type { Basics } from '../lib/basics.ts';
import type { BoundedMap } from '../lib/bounded-map.ts';
import type { ExpiringCache } from '../lib/expiring-cache.ts';
import type { Look } from '../drain/room.ts';
import type { FatalWebhook } from '../drain/webhooks.ts';
import type { Metrics } from './metrics.ts';
import type { Shadows } from './recent-shadows.ts';

/** What people should see on a node. */
export type NodeEvent = Omit<EventRecord, 'regarding'>;

export interface NodeEvents {
  /** Never rejects. */
  record(node: Node, event: NodeEvent): Promise<void>;
}

/** Everything that acting for agents needs of the world. */
export interface Ports extends Basics {
  /** For what is listed and watched. */
  readonly transport: KubeTransport;
  readonly nodes: Pick<Collection<Node, VersionedPatch>, 'get' | 'patch'>;
  readonly shadows: Shadows;
  readonly evictions: EvictionPort;
  readonly volumes: VolumePort;
  /** Those without which a drain cannot go on: one list for the drains of ten minutes, because people are warned of them and nothing else depends on it. */
  readonly webhooks: ExpiringCache<readonly FatalWebhook[]>;
  /** For nodes that prepare their updates ahead, many of which are done at the same time. */
  readonly budgets: ExpiringCache<readonly PodDisruptionBudget[]>;
  /** By node, how far the room that its drain waits for has been looked for. */
  readonly looks: BoundedMap<string, Look | undefined>;
  readonly events: NodeEvents;
  readonly metrics: Metrics;
  /** The operator's own namespace. */
  readonly namespace: string;
}
