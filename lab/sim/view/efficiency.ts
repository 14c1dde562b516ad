/** A stretch of time, milliseconds on the clock of the run. */
export interface Interval {
  readonly startMs: number;
  readonly endMs: number;
}

/** Time covered by at least one of the intervals, milliseconds. */
export function covered(intervals: readonly Interval[]): number {
  let total = 0;
  let end = -Infinity;
  for (const { startMs, endMs } of intervals.toSorted((a, b) => a.startMs - b.startMs)) {
    if (endMs <= end) continue;
    total += endMs - Math.max(startMs, end);
    end = endMs;
  }
  return total;
}

/**
 * Length of the shortest rollout that any operator could have made of these updates, in the order in which they began: each takes the
 * first of `permits` that is free, and nothing lies between.
 * @param times each node's own time, milliseconds, in order of its start
 */
export function criticalPath(times: readonly number[], permits: number): number {
  const free = Array.from({ length: Math.min(permits, Math.max(1, times.length)) }, () => 0);
  for (const time of times) {
    const first = free.indexOf(Math.min(...free));
    free[first] = (free[first] ?? 0) + time;
  }
  return Math.max(...free);
}
