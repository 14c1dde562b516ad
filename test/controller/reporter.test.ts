import { expect, test } from '@jest/globals';
import { ControllerMetrics } from '../../runtime/controller/metrics.ts';
import { plan } from '../../runtime/controller/plan/plan.ts';
import type { Snapshot } from '../../runtime/controller/plan/snapshot.ts';
import { Reporter } from '../../runtime/controller/reporter.ts';
import { EventBroadcaster } from '../../runtime/kube/event-broadcaster.ts';
import type { EventRecord } from '../../runtime/kube/event-recorder.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { NAMESPACE } from '../../runtime/shadow/names.ts';
import { VirtualClock } from '../../sim/clock.ts';
import { DRAINED, fleet, minutes, node, NOW, type Parts, POLICY, rebooting, snapshot } from './plan/fleet.ts';

const MANY = 10_000;
const NAMES = Array.from({ length: MANY }, (_, index) => `n${index}`);
const many = (parts: Parts): Record<string, Parts> => Object.fromEntries(NAMES.map((name) => [name, parts]));

/** An API that takes Events until it is out, the queue before it, and a reporter. */
function world() {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const api = { isOut: false, events: [] as EventRecord[], attempts: 0 };
  const record = async (event: EventRecord): Promise<boolean> => {
    api.attempts++;
    if (!api.isOut) api.events.push(event);
    return !api.isOut;
  };
  const queue = new EventBroadcaster({ record }, clock);
  const told = { events: queue, metrics: new ControllerMetrics(), namespace: NAMESPACE, logger: silentLogger };
  // The plans are made at NOW, whenever their Events are written.
  const reporter = new Reporter({
    ...told,
    clock: Object.assign(new VirtualClock(), { now: () => NOW }),
    agentTimeoutMs: 15 * 60_000,
  });
  const running = queue.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { clock, api, queue, reporter, end };
}

/** A second's Events, and all of them in the end, each once. */
async function expectPaced({ clock, api, end }: ReturnType<typeof world>, count = MANY): Promise<void> {
  await clock.advance(1000);
  const uids = (): (string | undefined)[] => api.events.flatMap(({ regarding }) => regarding.uid ?? []);
  expect(uids().length).toBeGreaterThan(5);
  expect(uids().length).toBeLessThanOrEqual(11);
  await clock.advance(MANY * 100);
  expect([uids().length, new Set(uids()).size]).toEqual([count, count]);
  await end();
}

const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name: 'l' };
const report = (reporter: Reporter, seen: Snapshot): void =>
  reporter.report({ plan: plan(seen, POLICY, NOW), snapshot: seen, lease });

test('ten thousand missing agents are told at ten a second, each once, however often they are looked at', async () => {
  const own = world();
  const nodes = NAMES.map((name) => node(name));
  const silent = snapshot({ nodes, silentSince: new Map(NAMES.map((name) => [name, minutes(-20)])) });
  for (let look = 0; look < 3; look++) report(own.reporter, silent);
  await expectPaced(own);
});

test('so are as many updates as may start at once', async () => {
  const own = world();
  const unlimited = { kind: 'unlimited' } as const;
  const waiting = fleet(many({}));
  const { commands } = plan(waiting, { ...POLICY, maxConcurrent: unlimited, maxFailed: unlimited }, NOW);
  for (const [index, command] of commands.entries()) own.reporter.carriedOut(command, waiting.shadows[index]!);
  await expectPaced(own, commands.length);
});

test('and ten thousand nodes that do not return, whom the halt of their release does not wait for', async () => {
  const own = world();
  const down = { ready: false, readyChangedAt: minutes(-20), marks: DRAINED };
  const lost = fleet(many(rebooting), { nodes: NAMES.map((name) => node(name, down)) });
  for (let look = 0; look < 2; look++) report(own.reporter, lost);
  await own.clock.advance(0);
  expect(own.api.events.map(({ reason }) => reason)).toEqual(['RolloutHalted', 'NotReturned']);
  await expectPaced(own);
});

test('a missing agent of which the cluster could not be told is told later', async () => {
  const { clock, api, reporter, end } = world();
  const silent = snapshot({ nodes: [node('a')], silentSince: new Map([['a', minutes(-20)]]) });
  const look = async (): Promise<void> => {
    report(reporter, silent);
    await clock.advance(60_000);
  };
  api.isOut = true;
  await look();
  expect(api.attempts).toBe(1);
  api.isOut = false;
  for (let looks = 0; looks < 3; looks++) await look();
  expect(api.events.map(({ reason }) => reason)).toEqual(['AgentMissing']);
  await end();
});

test('what flaps is told a few times and then rarely', async () => {
  const { clock, api, queue, end } = world();
  const regarding = { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'uid-a' };
  for (let times = 0; times < 100; times++)
    void queue.record({ regarding, type: 'Normal', reason: 'X', message: `${times}` });
  await clock.advance(10_000);
  expect(api.events).toHaveLength(10);
  await end();
});

test('what waits beyond ten thousand is not told, and nothing is after the end', async () => {
  const { api, queue, end } = world();
  const told = NAMES.concat('one more').map((name) =>
    queue.record({ regarding: { apiVersion: 'v1', kind: 'Node', name }, type: 'Normal', reason: 'X', message: 'x' }),
  );
  expect(await told.at(-1)).toBe(false);
  await end();
  expect((await Promise.all(told)).filter(Boolean).length).toBe(api.events.length);
});
