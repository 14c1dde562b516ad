import { limitedEvents } from '../kube/event-limit.ts';
import type { EventPort } from '../kube/events.ts';
import type { ObjectReference } from '../kube/objects.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { Announcements } from './announcements.ts';
import { Chronicle } from './chronicle.ts';
import { EventQueue } from './event-queue.ts';
import type { ControllerMetrics } from './metrics.ts';
import { MissingAgents } from './missing-agents.ts';
import type { Plan } from './plan/plan.ts';
import type { Snapshot } from './plan/snapshot.ts';
import { Setbacks } from './setbacks.ts';

export interface NewsOptions {
  readonly events: EventPort;
  readonly metrics: ControllerMetrics;
  readonly logger: Logger;
  readonly clock: Clock;
  /** The operator's own. */
  readonly namespace: string;
  /** How long a node may be without an agent before that is told, milliseconds. */
  readonly agentTimeoutMs: number;
}

/** Everything that people are told by Events: of nodes at a bounded pace, of the fleet as a whole at once. */
export class News {
  /** What commands have come to. */
  readonly chronicle: Chronicle;
  readonly #queue: EventQueue;
  readonly #setbacks: Setbacks;
  readonly #missing: MissingAgents;
  readonly #announcements: Announcements;
  readonly #overdueSince: () => number;

  constructor({ events, metrics, logger, clock, namespace, agentTimeoutMs }: NewsOptions) {
    const limited = limitedEvents(events, clock);
    this.#queue = new EventQueue(limited, clock);
    this.chronicle = new Chronicle({ events: this.#queue, metrics, logger, clock, namespace });
    this.#setbacks = new Setbacks({ events: this.#queue, metrics, namespace });
    this.#missing = new MissingAgents(this.#queue);
    this.#announcements = new Announcements(limited);
    this.#overdueSince = () => clock.now() - agentTimeoutMs;
  }

  /** Writes what there is to tell of nodes, until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#queue.run(signal);
  }

  /**
   * To be called before the plan is carried out, so that a warning is sent before what it warns of begins.
   * @param lease the controller's, which news of the fleet is about
   */
  tell(plan: Plan, snapshot: Snapshot, lease: ObjectReference): void {
    this.chronicle.review(plan, snapshot);
    this.#setbacks.tell(plan, snapshot);
    this.#missing.tell(snapshot, plan.verdicts, this.#overdueSince());
    this.#announcements.tell(plan, snapshot, lease);
  }
}
