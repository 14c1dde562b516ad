import type { Life, TrueTime } from './clock.ts';

/** Whoever waits for an answer. */
export interface Sender {
  /** It has an answer, has given up, or is dead. */
  readonly isGone: () => boolean;
  /** It went with its machine, and nobody closes its connections. */
  readonly isSilent: () => boolean;
  /** Told when it no longer waits, without an answer. */
  readonly onGone: (happen: () => void) => void;
  /** The same, and when it has its answer. */
  readonly onOver: (happen: () => void) => void;
}

export interface Patience {
  readonly time: TrueTime;
  readonly life: Life;
  /** Milliseconds; unset = for ever. */
  readonly ms?: number;
  readonly signal?: AbortSignal | undefined;
  /** The error of one that has given up. */
  readonly gaveUp: (why: string) => Error;
}

/** What `send` comes to, as long as the process lives and waits for it. */
export function waitFor<T>(patience: Patience, send: (sender: Sender) => Promise<T>): Promise<T> {
  const { time, life, ms, signal, gaveUp } = patience;
  return new Promise((resolve, reject) => {
    if (life.isOver) return;
    if (signal?.aborted) return reject(gaveUp('aborted'));
    let isOver = false;
    const gone: (() => void)[] = [];
    const over: (() => void)[] = [];
    const settle = (how: () => void, told: readonly (() => void)[] = []): void => {
      if (isOver) return;
      isOver = true;
      if (timer) time.cancel(timer);
      signal?.removeEventListener('abort', onAbort);
      leave();
      how();
      for (const happen of [...told, ...over]) happen();
    };
    const giveUp = (why: string): void => settle(() => reject(gaveUp(why)), gone);
    const onAbort = (): void => giveUp('aborted');
    const leave = life.onOver(() => settle(() => undefined, gone));
    const timer = ms === undefined ? undefined : time.after(ms, () => life.deliver(() => giveUp('timed out')));
    signal?.addEventListener('abort', onAbort, { once: true });
    const sender: Sender = {
      isGone: () => isOver,
      isSilent: () => life.isSilent,
      onGone: (happen) => (isOver ? happen() : void gone.push(happen)),
      onOver: (happen) => void over.push(happen),
    };
    send(sender).then(
      (value) => life.deliver(() => settle(() => resolve(value))),
      (error: Error) => life.deliver(() => settle(() => reject(error))),
    );
  });
}

/** Nobody hears of it again. */
export function never(): Promise<never> {
  return new Promise(() => undefined);
}
