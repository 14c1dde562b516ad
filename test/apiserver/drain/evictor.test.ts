import { expect, test } from '@jest/globals';
import { EvictionQueue, Evictor } from '../../../runtime/apiserver/drain/evictor.ts';
import type { Cover } from '../../../runtime/drain/cover.ts';
import { drainPod } from '../../../runtime/drain/pod.ts';
import { Metrics } from '../../../runtime/apiserver/metrics.ts';
import type { EvictionResult } from '../../../runtime/kube/evictions.ts';
import { settle, VirtualClock } from '../../../lab/sim/clock.ts';

type Evict = (pod: { readonly name: string }) => Promise<EvictionResult>;

function evictorOf(evict: Evict, cover: Cover = [], clock = new VirtualClock()) {
  const stop = new AbortController();
  const subject = new Evictor({
    queue: new EvictionQueue({ evict }, { clock, maxPerDrain: 5 }),
    drain: 'd1',
    cover,
    metrics: new Metrics(),
    clock,
    random: () => 0.5,
    signal: stop.signal,
    onBlocked: () => undefined,
  });
  return { subject, stop };
}

const podsOf = (...names: readonly string[]) =>
  names.map((name) => drainPod({ metadata: { name, uid: `uid-${name}`, resourceVersion: '1' } }));

test('a pod that went by itself is forgotten, and evicted when it is listed once more', async () => {
  const asked: string[] = [];
  const evict = async ({ name }: { name: string }): Promise<EvictionResult> => {
    asked.push(name);
    return { kind: 'blocked', by: ['PodDisruptionBudget shop/web'], retryAfterMs: 0 };
  };
  const { subject, stop } = evictorOf(evict);
  const pods = podsOf('web-1', 'web-2');
  subject.setTargets(pods);
  await settle();
  subject.setTargets(pods.slice(1));
  expect([...subject.blocked()]).toEqual([['uid-web-2', 'PodDisruptionBudget shop/web']]);
  subject.setTargets(pods);
  await settle();
  expect(asked).toEqual(['web-1', 'web-2', 'web-1']);
  stop.abort();
});

test('pods of one budget are evicted one after the other, others at once, and one without an answer keeps them for half a second', async () => {
  const answers = new Map<string, () => void>();
  const evict = ({ name }: { readonly name: string }): Promise<EvictionResult> =>
    new Promise((resolve) => answers.set(name, () => resolve({ kind: 'accepted' })));
  const clock = new VirtualClock();
  const left = ['uid-web-1', 'uid-web-2', 'uid-web-3'];
  const { subject } = evictorOf(evict, [{ name: 'shop/web', pods: 3, left }], clock);
  subject.setTargets(podsOf('web-1', 'web-2', 'web-3', 'batch-1', 'batch-2'));
  await settle();
  expect([...answers.keys()].toSorted()).toEqual(['batch-1', 'batch-2', 'web-1']);
  answers.get('web-1')?.();
  await settle();
  expect(answers.has('web-2')).toBe(true);
  await clock.advance(499);
  expect(answers.has('web-3')).toBe(false);
  await clock.advance(1);
  expect(answers.has('web-3')).toBe(true);
});

test('what an ended drain still wants to evict keeps no other of its budget waiting, even where its requests are not answered', async () => {
  const asked: string[] = [];
  const evict = ({ name }: { readonly name: string }): Promise<EvictionResult> => {
    asked.push(name);
    return new Promise(() => undefined);
  };
  const clock = new VirtualClock();
  const queue = new EvictionQueue({ evict }, { clock, maxPerDrain: 1 });
  const ended = new AbortController();
  const budget = 'shop/web';
  const pod = (name: string) => ({ namespace: 'shop', name, uid: `uid-${name}` });
  for (const name of ['web-1', 'web-2', 'web-3', 'web-4'])
    void queue.evict({ drain: 'd1', pod: pod(name), budget }, ended.signal);
  await settle();
  ended.abort();
  void queue.evict({ drain: 'd2', pod: pod('web-9'), budget }, new AbortController().signal);
  await clock.advance(500);
  expect(asked).toEqual(['web-1', 'web-9']);
});
