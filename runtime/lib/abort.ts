import type { Clock } from './clock.ts';

/** An AbortController under another signal: it aborts when that does and for the same reason, or by itself. */
export interface ChildAbort {
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  /** Removes the listener from the parent, which may live for months. Call it when the work is over. */
  release(): void;
}

export function childAbort(parent?: AbortSignal): ChildAbort {
  const own = new AbortController();
  const follow = (): void => own.abort(parent?.reason);
  if (parent?.aborted) follow();
  parent?.addEventListener('abort', follow, { once: true });
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    release: () => parent?.removeEventListener('abort', follow),
  };
}

/** The work did not end in time. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/** Reason for the timer, which ignores it. It is made once, because a new error records its stack, and every request has a deadline. */
const DONE = new Error('done');

interface Limit {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
}

/** A signal that aborts after `ms` milliseconds with a DeadlineError, or with its parent. `release` stops the timer. */
export function deadline({ clock, ms, signal }: Limit): Pick<ChildAbort, 'signal' | 'release'> {
  const limited = childAbort(signal);
  const timer = childAbort(limited.signal);
  clock.sleep(ms, timer.signal).then(
    () => limited.abort(new DeadlineError(`not done after ${Math.round(ms)} ms`)),
    () => undefined,
  );
  const release = (): void => {
    timer.abort(DONE);
    timer.release();
    limited.release();
  };
  return { signal: limited.signal, release };
}

/**
 * Gives `work` a signal that aborts after `ms` milliseconds.
 * @throws what `work` throws. Its signal aborts with a DeadlineError.
 */
export async function withDeadline<T>(limit: Limit, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limited = deadline(limit);
  try {
    return await work(limited.signal);
  } finally {
    limited.release();
  }
}

/** Rejects with the signal's reason once it aborts, and never settles otherwise. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    if (signal.aborted) return fail();
    signal.addEventListener('abort', fail, { once: true });
  });
}

/** The result of `work`. Rejects with the signal's reason as soon as it aborts, and leaves no listener on the signal. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const own = childAbort(signal);
  try {
    return await Promise.race([work, aborted(own.signal)]);
  } finally {
    own.release();
  }
}
