import type { EventPort } from '../kube/events.ts';
import { agentMissing } from './events.ts';
import type { Snapshot } from './plan/snapshot.ts';
import type { Verdict } from './plan/verdict.ts';

/** Says once of each node, by its UID, that no agent has come to register it. */
export class MissingAgents {
  readonly #events: EventPort;
  /** Said, or about to be. */
  readonly #told = new Set<string>();

  constructor(events: EventPort) {
    this.#events = events;
  }

  /** @param since agents that have not been there since then, in milliseconds since the Unix epoch, are missed */
  tell({ nodes, silentSince }: Snapshot, verdicts: readonly Verdict[], since: number): void {
    const missing = new Set(verdicts.filter(({ reason }) => reason === 'AgentMissing').map(({ node }) => node));
    for (const node of nodes) {
      const overdue = missing.has(node.name) && (silentSince.get(node.name) ?? Infinity) <= since;
      if (overdue && !this.#told.has(node.uid)) void this.#tell(node);
    }
    this.#forget(nodes);
  }

  async #tell(node: Snapshot['nodes'][number]): Promise<void> {
    this.#told.add(node.uid);
    if (!(await this.#events.record(agentMissing(node)))) this.#told.delete(node.uid);
  }

  #forget(nodes: Snapshot['nodes']): void {
    if (this.#told.size === 0) return;
    const present = new Set(nodes.map(({ uid }) => uid));
    for (const uid of this.#told) if (!present.has(uid)) this.#told.delete(uid);
  }
}
