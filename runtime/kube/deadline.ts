import type { Clock } from '../lib/clock.ts';

export interface Deadline {
  /** Milliseconds from now. */
  readonly ms: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `work` with a signal that aborts after `ms`, or when the outer one does. It leaves nothing behind on the outer signal, which
 * lives as long as the process (AbortSignal.any would add to it with each call).
 */
export async function withDeadline<T>(deadline: Deadline, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { ms, clock, signal } = deadline;
  const inner = new AbortController();
  const done = new AbortController();
  const follow = (): void => inner.abort(signal?.reason);
  if (signal?.aborted) follow();
  signal?.addEventListener('abort', follow, { once: true });
  clock.sleep(ms, done.signal).then(
    () => inner.abort(new Error(`not done within ${Math.round(ms)} ms`)),
    () => undefined,
  );
  try {
    return await work(inner.signal);
  } finally {
    done.abort();
    signal?.removeEventListener('abort', follow);
  }
}
