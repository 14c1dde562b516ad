import type { EventPort } from '../kube/events.ts';
import { setback } from './events.ts';
import type { ControllerMetrics } from './metrics.ts';
import { upToDate } from './plan/condition.ts';
import type { Snapshot } from './plan/snapshot.ts';
import { isSetback, type Setback } from './plan/verdict.ts';
import type { Plan } from './plan/plan.ts';

export interface SetbacksOptions {
  readonly events: EventPort;
  readonly metrics: ControllerMetrics;
  /** The operator's own. */
  readonly namespace: string;
}

/** Tells of nodes that did not come back well from their update, when the verdict on them changes to that. */
export class Setbacks {
  readonly #options: SetbacksOptions;
  /** By node UID, what is known already. */
  #known = new Map<string, Setback['reason']>();

  constructor(options: SetbacksOptions) {
    this.#options = options;
  }

  tell({ verdicts }: Pick<Plan, 'verdicts'>, { nodes, shadows }: Pick<Snapshot, 'nodes' | 'shadows'>): void {
    const { events, metrics, namespace } = this.#options;
    const before = this.#known;
    this.#known = new Map();
    const setbacks = verdicts.filter(isSetback);
    if (setbacks.length === 0) return;
    const nodesByName = new Map(nodes.map((node) => [node.name, node]));
    const shadowsByName = new Map(shadows.map((shadow) => [shadow.name, shadow]));
    for (const verdict of setbacks) {
      const node = nodesByName.get(verdict.node);
      const shadow = node && shadowsByName.get(node.shadowName);
      if (!shadow) continue;
      this.#known.set(node.uid, verdict.reason);
      // The condition was written by this process, which then knows of it, or by one before it, which has told.
      if (before.get(node.uid) === verdict.reason || upToDate(shadow.status)?.reason === verdict.reason) continue;
      metrics.setBack(verdict.reason);
      void events.record(setback({ verdict, node, shadow, namespace }));
    }
  }
}
