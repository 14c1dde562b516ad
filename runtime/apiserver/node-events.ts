import type { EventRecorder } from '../kube/events.ts';
import type { Node } from '../kube/objects.ts';

/** What people should see on a node. */
export interface NodeEvent {
  readonly type: 'Normal' | 'Warning';
  /** One word. */
  readonly reason: string;
  /** One sentence. */
  readonly message: string;
}

export interface NodeEvents {
  /** Never rejects. */
  record(node: Node, event: NodeEvent): Promise<void>;
}

export function nodeEvents(events: EventRecorder): NodeEvents {
  return {
    async record({ metadata: { name, uid } }, event) {
      await events.record({ ...event, regarding: { apiVersion: 'v1', kind: 'Node', name, uid } });
    },
  };
}
