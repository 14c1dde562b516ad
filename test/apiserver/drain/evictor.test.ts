import { describe, expect, test } from '@jest/globals';
import { EvictionQueue, Evictor } from '../../../runtime/apiserver/drain/evictor.ts';
import { Metrics } from '../../../runtime/apiserver/metrics.ts';
import type { EvictionResult } from '../../../runtime/kube/evictions.ts';
import type { Pod } from '../../../runtime/kube/objects.ts';
import { withDeadline } from '../../../runtime/lib/abort.ts';
import { settle, VirtualClock } from '../../../sim/clock.ts';

const pod = (name: string): Pod => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '1' },
});

/** An evictor whose requests get the scripted answers, the last of them for ever. */
function evictor(answers: readonly (EvictionResult | Error)[]) {
  const clock = new VirtualClock();
  const asked: number[] = [];
  const stop = new AbortController();
  const evict = async (): Promise<EvictionResult> => {
    const answer = answers[Math.min(asked.length, answers.length - 1)]!;
    asked.push(clock.monotonic());
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const subject = new Evictor({
    queue: new EvictionQueue({ evict }, { maxPerDrain: 5 }),
    drain: 'd1',
    metrics: new Metrics(),
    clock,
    random: () => 0.5,
    signal: stop.signal,
    onBlocked: () => undefined,
  });
  return { subject, clock, asked, stop };
}

describe('an eviction', () => {
  test('that is accepted is not asked for again', async () => {
    const { subject, clock, asked } = evictor([{ kind: 'accepted' }]);
    subject.setTargets([pod('web-1')]);
    await clock.advance(60_000);
    subject.setTargets([pod('web-1')]);
    await clock.advance(60_000);
    expect(asked).toEqual([0]);
  });

  test('that is blocked waits at least as long as the answer says', async () => {
    const { subject, clock, asked } = evictor([
      { kind: 'blocked', budgets: [], retryAfterMs: 10_000 },
      { kind: 'accepted' },
    ]);
    subject.setTargets([pod('web-1')]);
    await clock.advance(60_000);
    expect(asked).toEqual([0, 10_000]);
    expect([...subject.blocked()]).toEqual([]);
  });

  test('that is refused, or gets no answer, is asked for ever more rarely, and says why', async () => {
    const { subject, clock, asked } = evictor([
      new Error('reset'),
      { kind: 'refused', status: 500, message: 'two budgets' },
    ]);
    subject.setTargets([pod('web-1')]);
    await settle();
    expect([...subject.blocked()]).toEqual([['uid-web-1', 'reset']]);
    await clock.advance(40_000);
    expect(asked).toEqual([0, 1_000, 3_000, 7_000, 15_000, 30_000]);
    expect([...subject.blocked()]).toEqual([['uid-web-1', 'refused with 500: two budgets']]);
  });

  test('that is refused in many words is told in a few, because each pod’s go into the resource', async () => {
    const { subject } = evictor([{ kind: 'refused', status: 422, message: 'x'.repeat(100_000) }]);
    subject.setTargets([pod('web-1')]);
    await settle();
    expect([...subject.blocked()]).toEqual([['uid-web-1', `refused with 422: ${'x'.repeat(300)}`]]);
  });

  test('is given up for a pod that went by itself, and for all at the end', async () => {
    const { subject, clock, asked, stop } = evictor([{ kind: 'blocked', budgets: ['shop/web'], retryAfterMs: 0 }]);
    subject.setTargets([pod('web-1'), pod('web-2')]);
    await settle();
    subject.setTargets([pod('web-2')]);
    expect([...subject.blocked()]).toEqual([['uid-web-2', 'PodDisruptionBudget shop/web']]);
    stop.abort();
    await clock.advance(60_000);
    expect(asked).toEqual([0, 0]);
  });
});

describe('an eviction, while an admission webhook keeps the answers back,', () => {
  const DEADLINE_MS = 30_000;

  /** Evictors of different drains, which have one place together; each answer takes `answerMs`, and is given up at the transport's deadline. */
  function slow(answerMs: number) {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const [sent, answered]: [string[], string[]] = [[], []];
    const evict = ({ name }: { name: string }, signal?: AbortSignal): Promise<EvictionResult> => {
      sent.push(`${name} at ${clock.monotonic() / 1000} s`);
      return withDeadline({ clock, ms: DEADLINE_MS, signal }, async (late) => {
        await clock.sleep(answerMs, late);
        answered.push(name);
        return { kind: 'accepted' };
      });
    };
    const ports = {
      queue: new EvictionQueue({ evict }, { maxPerDrain: 5, max: 1 }),
      metrics: new Metrics(),
      clock,
      random: () => 0.5,
    };
    const options = { ...ports, signal: stop.signal, onBlocked: () => undefined };
    return {
      one: new Evictor({ ...options, drain: 'd1' }),
      other: new Evictor({ ...options, drain: 'd2' }),
      clock,
      stop,
      sent,
      answered,
    };
  }

  test('that is on its way when all ends is left to end: cut off, it would keep its budget for two minutes', async () => {
    const { one, clock, stop, answered } = slow(100);
    one.setTargets([pod('web-1')]);
    await settle();
    stop.abort();
    await clock.advance(100);
    expect(answered).toEqual(['web-1']);
  });

  test('that is still in line when all ends is never sent', async () => {
    const { one, other, clock, stop, sent, answered } = slow(100);
    one.setTargets([pod('web-1')]);
    other.setTargets([pod('web-2')]);
    await settle();
    stop.abort();
    await clock.advance(60_000);
    expect([sent, answered]).toEqual([['web-1 at 0 s'], ['web-1']]);
  });

  test('that has waited in line has all of its time still', async () => {
    const { one, other, clock, sent, answered } = slow(25_000);
    one.setTargets([pod('web-1')]);
    other.setTargets([pod('web-2')]);
    await clock.advance(60_000);
    expect([sent, answered]).toEqual([
      ['web-1 at 0 s', 'web-2 at 25 s'],
      ['web-1', 'web-2'],
    ]);
  });
});
