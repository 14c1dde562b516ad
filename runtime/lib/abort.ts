import type { Clock } from './clock.ts';

/** A cancellation of its own under another one: it aborts with the parent, with the parent's reason, or by itself. */
export interface ChildAbort {
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  /** Lets go of the parent, which may live for months; call it when the work is over. */
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

/**
 * Gives `work` a signal that aborts after `ms` milliseconds.
 * @throws what `work` throws; it gets a DeadlineError as the reason of its signal
 */
export async function withDeadline<T>(
  { clock, ms, signal }: { readonly clock: Clock; readonly ms: number; readonly signal?: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limited = childAbort(signal);
  const timer = childAbort(limited.signal);
  clock.sleep(ms, timer.signal).then(
    () => limited.abort(new DeadlineError(`not done after ${ms} ms`)),
    () => undefined,
  );
  try {
    return await work(limited.signal);
  } finally {
    timer.abort(new Error('done'));
    timer.release();
    limited.release();
  }
}

/** Rejects with the signal's reason once it aborts; settles in no other way. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    if (signal.aborted) return fail();
    signal.addEventListener('abort', fail, { once: true });
  });
}

/** What `work` comes to; rejects with the signal's reason as soon as it aborts, and leaves nothing on the signal. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const own = childAbort(signal);
  try {
    return await Promise.race([work, aborted(own.signal)]);
  } finally {
    own.release();
  }
}
