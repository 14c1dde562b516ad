/**
 * Time, as an argument. Nothing outside this file reads the system's clock or starts a timer, so that every process can run
 * on a virtual clock in tests and simulations.
 */
export interface Clock {
  /** Wall clock: milliseconds since the Unix epoch. It may jump. Use it for times that are stored or compared across machines. */
  now(): number;
  /** Milliseconds since some fixed moment of this process; never jumps. Use it for durations and deadlines within a process. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** One moment by both clocks of a process. */
export interface Moment extends Readonly<Record<'now' | 'monotonic', number>> {}

/** The monotonic clock is read first: of a process that is stopped in between, durations come out shorter than they were, and never longer. */
export function momentOf(clock: Pick<Clock, 'now' | 'monotonic'>): Moment {
  const monotonic = clock.monotonic();
  return { monotonic, now: clock.now() };
}

/** A monotonic instant by the wall clock as it is at this moment. */
export const byWallClock = (instant: number, { now, monotonic }: Moment): number => instant + now - monotonic;

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** setTimeout fires at once for delays beyond 2^31-1 ms, so long sleeps are split into days. */
const LONGEST_TIMER_MS = DAY_MS;

function timer(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(handle);
      reject(abortReason(signal));
    };
    const handle = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function abortReason(signal?: AbortSignal): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal?.reason });
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    let left = Math.max(0, ms);
    do {
      if (signal?.aborted) throw abortReason(signal);
      const piece = Math.min(left, LONGEST_TIMER_MS);
      await timer(piece, signal);
      left -= piece;
    } while (left > 0);
  },
};

/** `now` as the RFC 3339 text that the Kubernetes API uses (UTC, whole seconds unless `millis`). */
export function rfc3339(epochMs: number, { millis = false } = {}): string {
  const text = new Date(epochMs).toISOString();
  return millis ? text : `${text.slice(0, -'.000Z'.length)}Z`;
}

/**
 * The instant of an RFC 3339 text, in milliseconds since the Unix epoch. Undefined for null, which the API server sends for a time that was
 * never set, and for a text that cannot be read, like a leap second.
 */
export function instantOf(text: string | null | undefined): number | undefined {
  const instant = Date.parse(text ?? '');
  return Number.isNaN(instant) ? undefined : instant;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** A duration as people say it, in its two largest units, e.g. `4 min 17 s`. @param ms milliseconds; a negative number counts as 0 */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const first = UNITS.findIndex(([, length]) => seconds >= length);
  if (first < 0) return '0 s';
  const parts = UNITS.slice(first, first + 2).map(([unit, length], index) => {
    const above = UNITS[first + index - 1]?.[1] ?? Infinity;
    return [Math.floor((index === 0 ? seconds : seconds % above) / length), unit] as const;
  });
  return parts
    .filter(([count]) => count > 0)
    .map((part) => part.join(' '))
    .join(' ');
}
