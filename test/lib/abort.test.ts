import { describe, expect, test } from '@jest/globals';
import { aborted, childAbort, DeadlineError, withDeadline } from '../../runtime/lib/abort.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';

const reason = new Error('enough');

describe('a child of a signal', () => {
  test('aborts with its parent, and for the same reason', () => {
    const parent = new AbortController();
    const { signal } = childAbort(parent.signal);
    parent.abort(reason);
    expect(signal.reason).toBe(reason);
  });

  test('of an aborted parent is aborted from the start', () => {
    expect(childAbort(AbortSignal.abort(reason)).signal.reason).toBe(reason);
  });

  test('aborts by itself without its parent', () => {
    const parent = new AbortController();
    const child = childAbort(parent.signal);
    child.abort(reason);
    expect(child.signal.reason).toBe(reason);
    expect(parent.signal.aborted).toBe(false);
  });

  test('that was released no longer follows', () => {
    const parent = new AbortController();
    const child = childAbort(parent.signal);
    child.release();
    parent.abort(reason);
    expect(child.signal.aborted).toBe(false);
  });
});

describe('work with a deadline', () => {
  test('that ends in time gives its result, and leaves nothing that aborts later', async () => {
    const clock = new VirtualClock();
    let given: AbortSignal | undefined;
    const work = async (signal: AbortSignal): Promise<number> => {
      given = signal;
      await clock.sleep(999, signal);
      return 7;
    };
    expect(await clock.advanceUntil(withDeadline({ clock, ms: 1000 }, work), 1000)).toBe(7);
    await clock.advance(10_000);
    expect(given?.aborted).toBe(false);
  });

  test('that does not end is aborted with a DeadlineError which says how long it had', async () => {
    const clock = new VirtualClock();
    const work = withDeadline({ clock, ms: 1000 }, aborted);
    const failure = expect(work).rejects.toThrow(new DeadlineError('not done after 1000 ms'));
    await clock.advance(1000);
    await failure;
  });

  test('ends with the signal above it, for the reason of that', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const failure = expect(withDeadline({ clock, ms: 1000, signal: stop.signal }, aborted)).rejects.toBe(reason);
    stop.abort(reason);
    await failure;
  });
});

test('waiting for an abort ends with its reason, and with a plain error where that is none', async () => {
  await expect(aborted(AbortSignal.abort(reason))).rejects.toBe(reason);
  await expect(aborted(AbortSignal.abort('a word'))).rejects.toThrow('aborted');
});
