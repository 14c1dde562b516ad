import type { Clock } from '../../lib/clock.ts';
import { LineBudget } from '../../lib/line-budget.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../metrics.ts';
import type { RefusedError } from '../refusal.ts';

/**
 * Log lines for one reason: enough to see what a fleet is refused, and no more than a line a second for a client that wants to fill the
 * log.
 */
const BUDGET = { lines: 20, periodMs: 20_000 };

interface RefusalLogOptions {
  readonly metrics: Pick<Metrics, 'refusals'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Counts every refusal by reason, and logs only as many as somebody can read. */
export class RefusalLog {
  readonly #metrics: Pick<Metrics, 'refusals'>;
  readonly #logger: Logger;
  readonly #budget: LineBudget;

  constructor({ metrics, clock, logger }: RefusalLogOptions) {
    this.#metrics = metrics;
    this.#logger = logger;
    this.#budget = new LineBudget({ clock, ...BUDGET });
  }

  /** @param fields of bounded size, because a stranger chooses them */
  note(
    message: 'request refused' | 'connection refused',
    refusal: RefusedError,
    fields: () => object = () => ({}),
  ): void {
    const { status, reason, message: error, cause } = refusal;
    this.#metrics.refusals.inc({ reason });
    const budget = this.#budget.take(reason);
    if (!budget) return;
    const line = { ...fields(), status, reason, error, ...(cause !== undefined && { cause }), ...budget };
    if (reason === 'InternalError') this.#logger.error('request failed', line);
    else this.#logger.info(message, line);
  }

  /** A connection that broke while it was answered, which is no refusal. */
  noteBroken(error: unknown): void {
    const budget = this.#budget.take('broken');
    if (budget) this.#logger.warn('the connection of a request failed', { error, ...budget });
  }
}
