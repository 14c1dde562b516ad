import type { AgentView, ShadowFacts } from './views.ts';
import { upToDate } from './plan/condition.ts';

/**
 * Since when something has been so, for facts that the cluster shows without a time. A new process starts counting anew where nothing else
 * is known, which delays what depends on it and never hastens it.
 */
export class Observations {
  #silentSince = new Map<string, number>();
  #offeredSince = new Map<string, number>();

  /** By node name, since when no container of its agent runs. */
  silence(nodes: Iterable<string>, agents: Iterable<AgentView>, now: number): ReadonlyMap<string, number> {
    const running = new Set<string>();
    const stopped = new Map<string, number>();
    for (const { node, running: runs, stoppedAt } of agents) {
      if (runs) running.add(node);
      else if (stoppedAt !== undefined) stopped.set(node, Math.max(stoppedAt, stopped.get(node) ?? 0));
    }
    const since = new Map<string, number>();
    for (const node of nodes) {
      if (!running.has(node)) since.set(node, this.#silentSince.get(node) ?? stopped.get(node) ?? now);
    }
    this.#silentSince = since;
    return since;
  }

  /** By name of the shadow, since when an update is offered: as the condition says, else since this process has known. */
  offers(shadows: Iterable<ShadowFacts>, now: number): ReadonlyMap<string, number> {
    const since = new Map<string, number>();
    for (const { name, status } of shadows) {
      if (!status || status.current_version === status.target_version) continue;
      const condition = upToDate(status);
      const recorded = condition?.status === 'False' ? Date.parse(condition.lastTransitionTime) : undefined;
      since.set(name, recorded ?? this.#offeredSince.get(name) ?? now);
    }
    this.#offeredSince = since;
    return since;
  }
}
