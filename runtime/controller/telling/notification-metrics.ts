import { Counter, Gauge, type Registry } from 'prom-client';

const RESULTS = ['sent', 'failed', 'dropped'] as const;
type Result = (typeof RESULTS)[number];

/** Counts notifications by the name of their target. It exists only where notifications are configured. */
export class NotificationMetrics {
  readonly #results: Counter;
  readonly #waiting: Gauge;
  readonly #failing: Gauge;
  readonly #unusable: Gauge;
  readonly #silences: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    const labelNames = ['target'];
    this.#results = new Counter({
      name: 'brupop_controller_notifications_total',
      help: 'Notifications by target and by what became of them',
      labelNames: ['target', 'result'],
      registers,
    });
    this.#waiting = new Gauge({
      name: 'brupop_controller_notifications_queue_length',
      help: 'Notifications that wait for their target',
      labelNames,
      registers,
    });
    this.#failing = new Gauge({
      name: 'brupop_controller_notifications_failing',
      help: 'Whether the last attempt to notify a target has failed',
      labelNames,
      registers,
    });
    this.#silences = new Counter({
      name: 'brupop_controller_silences_total',
      help: 'Silences around reboots, by Alertmanager and by what became of requests',
      labelNames: ['alertmanager', 'result'],
      registers,
    });
    this.#unusable = new Gauge({
      name: 'brupop_controller_notifications_config_unusable',
      help: 'Whether the configuration of notifications, as it is now, cannot be used',
      registers,
    });
  }

  /** A target is known from now on. */
  show(target: string): void {
    for (const result of RESULTS) this.#results.inc({ target, result }, 0);
    this.waiting(target, 0);
    this.failing(target, false);
  }

  /** The target is gone, or another process notifies it. What was counted stays. */
  hide(target: string): void {
    this.#waiting.remove({ target });
    this.#failing.remove({ target });
  }

  ended(target: string, result: Result): void {
    this.#results.inc({ target, result });
  }

  waiting(target: string, count: number): void {
    this.#waiting.set({ target }, count);
  }

  failing(target: string, isSo: boolean): void {
    this.#failing.set({ target }, Number(isSo));
  }

  silenced(alertmanager: string, result: 'created' | 'expired' | 'failed'): void {
    this.#silences.inc({ alertmanager, result });
  }

  unusable(isSo: boolean): void {
    this.#unusable.set(Number(isSo));
  }
}
