import type { Basics } from '../../lib/basics.ts';
import type { Collection } from '../../kube/collection.ts';
import type { ConfigMap } from '../../kube/objects.ts';
import { configMapsOf, configMapsPath } from '../../kube/resources.ts';
import type { ClusterConnection } from '../../kube/in-cluster.ts';
import { watchOne } from '../../kube/watch-one.ts';
import { NOTIFICATIONS_STATE } from '../../api/notifications/names.ts';
import type { Planned, Statements } from './statements.ts';
import type { NotificationMetrics } from './notification-metrics.ts';

/** Notifies people of what plans say, besides those who read Events. */
export interface Notifier {
  /** Takes the newest plan before it is carried out, and every statement that holds by it. It never waits. */
  observe(statements: Statements, planned: Pick<Planned, 'plan' | 'snapshot'>): void;
  /** Sends the notifications. For one term as leader. */
  lead(signal: AbortSignal): Promise<void>;
}

/** What a notifier is made with. */
export interface NotifierParts extends Basics {
  /** Folder with the configuration and the Secrets of the targets. */
  readonly dir: string;
  readonly configMaps: Pick<Collection<ConfigMap>, 'get' | 'create' | 'patch'>;
  /** The ConfigMap that remembers what was told, each time that it changes. Ends when the signal aborts. */
  readonly watch: (signal: AbortSignal) => AsyncIterable<ConfigMap | undefined>;
  readonly metrics: NotificationMetrics;
  /** Who this process is on the Lease. */
  readonly identity: string;
}

export type NotifierFactory = (parts: NotifierParts) => Notifier;

interface NotifierAccess extends ClusterConnection, Omit<NotifierParts, 'configMaps' | 'watch'> {}

/** The notifier that `notifierOf` makes, with its memory in the cluster. */
export function notifierBy(notifierOf: NotifierFactory, { transport, namespace, ...parts }: NotifierAccess): Notifier {
  const path = configMapsPath(namespace);
  const onInterrupted = (error: unknown): void => parts.logger.warn('watch interrupted', { path, error });
  const watched = { ...parts, path, name: NOTIFICATIONS_STATE, onInterrupted };
  return notifierOf({
    ...parts,
    configMaps: configMapsOf(transport, namespace),
    watch: (signal) => watchOne<ConfigMap>(transport, { ...watched, signal }),
  });
}
