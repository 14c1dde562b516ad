import type { Pod } from '../../runtime/kube/objects.ts';
import type { KubeTransport, WatchEvent } from '../../runtime/kube/transport.ts';
import { WORKLOAD_NAMESPACE } from '../../sim/world/workload.ts';
import type { Fleet } from './fleet.ts';

/** A host that went down, and the pods of the workload that were still on it. */
export interface Shutdown {
  readonly node: string;
  readonly pods: readonly string[];
}

/** Follows the workload's pods on the API server's watch, and notes at each shutdown of a host which of them were on it. */
export function watchShutdowns({ nodes }: Fleet, transport: KubeTransport): { stop(): Promise<readonly Shutdown[]> } {
  const watching = new AbortController();
  const present = new Map<string, Pod>();
  const shutdowns: Shutdown[] = [];
  const follow = async (): Promise<void> => {
    const path = `/api/v1/namespaces/${WORKLOAD_NAMESPACE}/pods`;
    const events = transport.watch({ path, signal: watching.signal }) as AsyncIterable<WatchEvent<Pod>>;
    for await (const { type, object } of events) {
      if (type === 'DELETED') present.delete(object.metadata.uid);
      else present.set(object.metadata.uid, object);
    }
  };
  const following = follow();
  const on = (node: string): string[] =>
    [...present.values()].filter(({ spec }) => spec?.nodeName === node).map(({ metadata }) => metadata.name);
  const unobserve = [...nodes].map(([node, { host }]) =>
    host.observe({ onDown: () => void shutdowns.push({ node, pods: on(node) }) }),
  );
  return {
    stop: async () => {
      for (const end of unobserve) end();
      watching.abort(new Error('seen'));
      await following;
      return shutdowns;
    },
  };
}
