import { Collection, type Selectors } from '../../kube/collection.ts';
import { collectionPath } from '../../kube/paths.ts';
import type { Cluster } from '../command.ts';
import { ifAllowed } from '../reading.ts';
import type { EventObject } from './moments.ts';

/** Where Events live that are about objects without a namespace. */
export const DEFAULT_NAMESPACE = 'default';

interface EventsRead {
  readonly events: readonly EventObject[];
  /** What could not be read, a sentence each. */
  readonly unknown: readonly string[];
}

/** Those of a namespace, as far as they may be read. The API server keeps them for an hour, unless it was told otherwise. */
export async function eventsIn({ transport }: Cluster, namespace: string, selectors: Selectors): Promise<EventsRead> {
  const collection = new Collection<EventObject>(
    transport,
    collectionPath({ version: 'v1', plural: 'events', namespace }),
  );
  const { value, refused } = await ifAllowed(collection.list(selectors), []);
  const unknown = refused === undefined ? [] : [`Events in ${namespace}, which you may not list (${refused})`];
  return { events: value, unknown };
}

/** Of one object. */
export const about = (kind: string, name: string): Selectors => ({
  fieldSelector: `involvedObject.kind=${kind},involvedObject.name=${name}`,
});
