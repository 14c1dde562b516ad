import type { Clock } from './clock.ts';

interface LineBudgetOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Most lines of one kind in a period. */
  readonly lines: number;
  /** Milliseconds. */
  readonly periodMs: number;
}

interface Period {
  readonly ends: number;
  lines: number;
  leftOut: number;
}

/** Limits the log lines that others can cause. A log that others can fill hides what matters, and storing it costs money. */
export class LineBudget {
  readonly #options: LineBudgetOptions;
  readonly #periods = new Map<string, Period>();

  constructor(options: LineBudgetOptions) {
    this.#options = options;
  }

  /**
   * Fields for a line of this kind, which say how many lines of the kind were left out before it; undefined where this line is left out.
   * @param kind one of a few, because each is remembered
   */
  take(kind: string): { readonly left_out?: number } | undefined {
    const { clock, lines, periodMs } = this.#options;
    const now = clock.monotonic();
    const before = this.#periods.get(kind);
    if (before && now < before.ends && before.lines >= lines) {
      before.leftOut++;
      return undefined;
    }
    const period = before && now < before.ends ? before : { ends: now + periodMs, lines: 0, leftOut: 0 };
    period.lines++;
    this.#periods.set(kind, period);
    return before?.leftOut ? { left_out: before.leftOut } : {};
  }
}
