import type { EventPort } from '../kube/events.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { eventOf } from './events.ts';
import type { ControllerMetrics } from './metrics.ts';
import type { Command } from './plan/commands.ts';
import type { ShadowView } from './plan/snapshot.ts';

export interface ChronicleOptions {
  readonly events: EventPort;
  readonly metrics: ControllerMetrics;
  readonly logger: Logger;
  readonly clock: Clock;
  /** The operator's own. */
  readonly namespace: string;
}

/** Tells of what was carried out: an Event for people, a line in the log, and numbers. */
export class Chronicle {
  readonly #options: ChronicleOptions;

  constructor(options: ChronicleOptions) {
    this.#options = options;
  }

  /** @param shadow as the command was decided on; undefined where there was none */
  carriedOut(command: Command, shadow: ShadowView | undefined): void {
    const { events, metrics, logger, clock, namespace } = this.#options;
    if (!shadow) return;
    const now = clock.now();
    metrics.carriedOut(command, shadow, now);
    const event = eventOf({ command, shadow, namespace, now });
    if (!event) return;
    logger.info('update', { reason: event.reason, shadow: shadow.name, message: event.message });
    void events.record(event);
  }
}
