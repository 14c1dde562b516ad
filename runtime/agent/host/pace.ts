/**
 * When to look again whether an action has ended, `waitedMs` after its start: never later than 5 % of what it took, and 250 ms at
 * most. Each look costs the host a request, so short actions are looked at more often than long ones.
 */
export function nextLookMs(waitedMs: number): number {
  return Math.min(Math.max(waitedMs * 0.05, 20), 250);
}

/** Beyond this a memory of slow times costs more than a few early looks. */
const LONGEST_FIRST_LOOK_MS = 10_000;
const MARGIN_MS = 25;

/**
 * How long an action usually takes, for the ones that an idle host repeats: a first look at that moment finds them done, so that an
 * idle node costs three requests a check. Rises at once and falls slowly, because a look too early costs a request, a look too late nothing.
 */
export class Habit {
  #usualMs: number | undefined;

  record(tookMs: number): void {
    const usual = this.#usualMs ?? tookMs;
    this.#usualMs = Math.max(tookMs, usual + (tookMs - usual) / 4);
  }

  /** Milliseconds from the start of the action to the first look at it. */
  firstLookMs(): number {
    if (this.#usualMs === undefined) return nextLookMs(0);
    return Math.min(this.#usualMs + MARGIN_MS, LONGEST_FIRST_LOOK_MS);
  }
}
