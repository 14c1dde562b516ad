import { expect, test } from '@jest/globals';
import { EvictionQueue, Evictor } from '../../../runtime/apiserver/drain/evictor.ts';
import { drainPod } from '../../../runtime/drain/pod.ts';
import { Metrics } from '../../../runtime/apiserver/metrics.ts';
import type { EvictionResult } from '../../../runtime/kube/evictions.ts';
import { settle, VirtualClock } from '../../../lab/sim/clock.ts';

test('a pod that went by itself is forgotten, and evicted when it is listed once more', async () => {
  const asked: string[] = [];
  const evict = async ({ name }: { name: string }): Promise<EvictionResult> => {
    asked.push(name);
    return { kind: 'blocked', by: ['PodDisruptionBudget shop/web'], retryAfterMs: 0 };
  };
  const stop = new AbortController();
  const subject = new Evictor({
    queue: new EvictionQueue({ evict }, { maxPerDrain: 5 }),
    drain: 'd1',
    metrics: new Metrics(),
    clock: new VirtualClock(),
    random: () => 0.5,
    signal: stop.signal,
    onBlocked: () => undefined,
  });
  const pods = ['web-1', 'web-2'].map((name) =>
    drainPod({ metadata: { name, uid: `uid-${name}`, resourceVersion: '1' } }),
  );
  subject.setTargets(pods);
  await settle();
  subject.setTargets(pods.slice(1));
  expect([...subject.blocked()]).toEqual([['uid-web-2', 'PodDisruptionBudget shop/web']]);
  subject.setTargets(pods);
  await settle();
  expect(asked).toEqual(['web-1', 'web-2', 'web-1']);
  stop.abort();
});
