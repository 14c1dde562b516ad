import type { Clock } from './clock.ts';

export interface LineBudgetOptions {
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

/** Bounds the lines that others can cause: a log that they can fill hides what matters, and costs whoever keeps it. */
export class LineBudget {
  readonly #options: LineBudgetOptions;
  readonly #periods = new Map<string, Period>();

  constructor(options: LineBudgetOptions) {
    this.#options = options;
  }

  /**
   * Fields for a line of this kind, which say how many of the kind were left out since the last; undefined where this one is.
   * @param kind of a few: each is remembered
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
