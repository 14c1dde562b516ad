import { describe, expect, test } from '@jest/globals';
import { Evictor } from '../../../runtime/apiserver/drain/evictor.ts';
import { Metrics } from '../../../runtime/apiserver/metrics.ts';
import type { EvictionResult } from '../../../runtime/kube/evictions.ts';
import type { Pod } from '../../../runtime/kube/objects.ts';
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
    evictions: { evict },
    metrics: new Metrics(),
    clock,
    random: () => 0.5,
    maxInFlight: 5,
    signal: stop.signal,
    onBlocked: () => undefined,
  });
  return { subject, clock, asked, stop };
}

describe('an eviction', () => {
  test('that is accepted is not asked for again', async () => {
    const { subject, clock, asked } = evictor([{ kind: 'accepted' }]);
    subject.aim([pod('web-1')]);
    await clock.advance(60_000);
    subject.aim([pod('web-1')]);
    await clock.advance(60_000);
    expect(asked).toEqual([0]);
  });

  test('that is blocked waits at least as long as the answer says', async () => {
    const { subject, clock, asked } = evictor([
      { kind: 'blocked', budgets: [], retryAfterMs: 10_000 },
      { kind: 'accepted' },
    ]);
    subject.aim([pod('web-1')]);
    await clock.advance(60_000);
    expect(asked).toEqual([0, 10_000]);
    expect([...subject.blocked()]).toEqual([]);
  });

  test('that is refused, or gets no answer, is asked for ever more rarely, and says why', async () => {
    const { subject, clock, asked } = evictor([
      new Error('reset'),
      { kind: 'refused', status: 500, message: 'two budgets' },
    ]);
    subject.aim([pod('web-1')]);
    await settle();
    expect([...subject.blocked()]).toEqual([['uid-web-1', 'reset']]);
    await clock.advance(40_000);
    expect(asked).toEqual([0, 1_000, 3_000, 7_000, 15_000, 30_000]);
    expect([...subject.blocked()]).toEqual([['uid-web-1', 'refused with 500: two budgets']]);
  });

  test('that is refused in many words is told in a few, because each pod’s go into the resource', async () => {
    const { subject } = evictor([{ kind: 'refused', status: 422, message: 'x'.repeat(100_000) }]);
    subject.aim([pod('web-1')]);
    await settle();
    expect([...subject.blocked()]).toEqual([['uid-web-1', `refused with 422: ${'x'.repeat(300)}`]]);
  });

  test('is given up for a pod that went by itself, and for all at the end', async () => {
    const { subject, clock, asked, stop } = evictor([{ kind: 'blocked', budgets: ['shop/web'], retryAfterMs: 0 }]);
    subject.aim([pod('web-1'), pod('web-2')]);
    await settle();
    subject.aim([pod('web-2')]);
    expect([...subject.blocked()]).toEqual([['uid-web-2', 'PodDisruptionBudget shop/web']]);
    stop.abort();
    await clock.advance(60_000);
    expect(asked).toEqual([0, 0]);
  });

  test('that is on its way when all ends is left to end: cut off, it would keep its budget for two minutes', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    let answered = 0;
    const evict = async (_: unknown, signal?: AbortSignal): Promise<EvictionResult> => {
      await clock.sleep(100, signal);
      answered++;
      return { kind: 'accepted' };
    };
    const { signal } = stop;
    const ports = { evictions: { evict }, metrics: new Metrics(), clock, random: () => 0.5 };
    const subject = new Evictor({ ...ports, signal, maxInFlight: 5, onBlocked: () => undefined });
    subject.aim([pod('web-1')]);
    await settle();
    stop.abort();
    await clock.advance(100);
    expect(answered).toBe(1);
  });
});
