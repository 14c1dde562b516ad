import type { nodesOf } from '../kube/resources.ts';
import { rfc3339 } from '../lib/clock.ts';
import { type Due, NodeWriter, type NodeWriterPorts } from './node-writer.ts';
import { isLifecycle, type Lifecycle, lifecycleChanges, lifecycleOf } from './plan/lifecycle.ts';
import { mapNodes } from './plan/join.ts';
import type { NodeInfo } from './plan/snapshot.ts';

interface LifecycleConditionWriterOptions extends NodeWriterPorts {
  /** Whether our conditions are to be on Nodes. Nothing is done about them where that is `none`: there is no right to. */
  readonly mode: 'none' | 'written' | 'removed';
  readonly nodes: Pick<ReturnType<typeof nodesOf>, 'get' | 'mergeStatus'>;
}

/** Says in Kubernetes' own lifecycle conditions where updates are. */
export function lifecycleConditionWriter(options: LifecycleConditionWriterOptions): NodeWriter<Lifecycle | undefined> {
  const { mode, nodes, clock } = options;
  const wantedOn = (info: NodeInfo) => (mode === 'written' ? lifecycleOf(info) : undefined);
  return new NodeWriter({
    ...options,
    what: 'lifecycle conditions',
    dueIn: (snapshot) => {
      const at = rfc3339(clock.now());
      return mode === 'none' ? [] : mapNodes(snapshot, (info) => dueOn(info, wantedOn(info), at)).flat();
    },
    write: async ({ metadata, status }, wanted, signal) => {
      const conditions = lifecycleChanges(status?.conditions?.filter(isLifecycle) ?? [], wanted, rfc3339(clock.now()));
      const patch = { metadata: { resourceVersion: metadata.resourceVersion }, status: { conditions } };
      if (conditions.length > 0) await nodes.mergeStatus(metadata.name, patch, signal);
    },
  });
}

function dueOn({ node }: NodeInfo, wanted: Lifecycle | undefined, at: string): readonly Due<Lifecycle | undefined>[] {
  const changes = lifecycleChanges(node.lifecycle ?? [], wanted, at);
  return changes.length > 0 ? [{ node: node.name, wanted }] : [];
}
