import type { KubeObject, Node, PodDisruptionBudget } from '../../../runtime/kube/objects.ts';
import { collectionPath } from '../../../runtime/kube/paths.ts';
import type { KubeTransport, WatchEvent } from '../../../runtime/kube/transport.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import { RELEASES_PATH, type ReleaseResource } from '../../../runtime/api/resources.ts';
import type { Shadow } from '../../../runtime/api/shadow/model.ts';
import { GROUP, PLURAL, STORAGE_VERSION } from '../../../runtime/api/shadow/names.ts';
import type { Recorder } from '../view/recorder.ts';
import { WORKLOAD_NAMESPACE } from './workload.ts';

export interface ObserverOptions {
  /** In process: its watches end only with the signal. */
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly recorder: Recorder;
  /** After each event. */
  readonly onChange: () => void;
}

/** Feeds a recorder from the cluster's watch streams until the signal aborts. */
export async function observe(
  { transport, clock, recorder, onChange }: ObserverOptions,
  signal: AbortSignal,
): Promise<void> {
  const follow = async <T>(path: string, record: (event: WatchEvent<T>, nowMs: number) => void): Promise<void> => {
    for await (const event of transport.watch({ path, signal }) as AsyncIterable<WatchEvent<T>>) {
      record(event, clock.now());
      onChange();
    }
  };
  await Promise.all([
    follow<Node>(collectionPath({ version: 'v1', plural: 'nodes' }), (event) => recorder.node(event)),
    follow<Shadow & KubeObject>(
      collectionPath({ group: GROUP, version: STORAGE_VERSION, plural: PLURAL }),
      (event, now) => recorder.shadow(event, now),
    ),
    follow<ReleaseResource>(RELEASES_PATH, (event) => recorder.release(event)),
    follow<PodDisruptionBudget>(
      collectionPath({ group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', namespace: WORKLOAD_NAMESPACE }),
      (event) => recorder.budget(event),
    ),
  ]);
}
