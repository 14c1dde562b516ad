import { expect, test } from '@jest/globals';
import { Chronicle } from '../../runtime/controller/chronicle.ts';
import { EventQueue } from '../../runtime/controller/event-queue.ts';
import { ControllerMetrics } from '../../runtime/controller/metrics.ts';
import { MissingAgents } from '../../runtime/controller/missing-agents.ts';
import { plan } from '../../runtime/controller/plan/plan.ts';
import { Setbacks } from '../../runtime/controller/setbacks.ts';
import { limitedEvents } from '../../runtime/kube/event-limit.ts';
import type { EventRecord } from '../../runtime/kube/events.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { NAMESPACE } from '../../runtime/shadow/names.ts';
import { VirtualClock } from '../../sim/clock.ts';
import { DRAINED, fleet, minutes, node, NOW, type Parts, POLICY, rebooting, snapshot } from './plan/fleet.ts';

const MANY = 10_000;
const NAMES = Array.from({ length: MANY }, (_, index) => `n${index}`);
const many = (parts: Parts): Record<string, Parts> => Object.fromEntries(NAMES.map((name) => [name, parts]));

/** An API that takes Events until it is out, and the queue before it. */
function world() {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const api = { isOut: false, events: [] as EventRecord[], attempts: 0 };
  const record = async (event: EventRecord): Promise<boolean> => {
    api.attempts++;
    if (!api.isOut) api.events.push(event);
    return !api.isOut;
  };
  const queue = new EventQueue(limitedEvents({ record }, clock), clock);
  const running = queue.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { clock, api, queue, end };
}

/** A second's Events, and all of them in the end, each once. */
async function expectPaced({ clock, api, end }: ReturnType<typeof world>): Promise<void> {
  await clock.advance(1000);
  expect(api.events.length).toBeGreaterThan(5);
  expect(api.events.length).toBeLessThanOrEqual(11);
  await clock.advance(MANY * 100);
  expect(new Set(api.events.map(({ regarding }) => regarding.uid)).size).toBe(MANY);
  expect(api.attempts).toBe(MANY);
  await end();
}

test('ten thousand missing agents are told at ten a second, each once, however often they are looked at', async () => {
  const own = world();
  const missing = new MissingAgents(own.queue);
  const nodes = NAMES.map((name) => node(name));
  const silent = snapshot({ nodes, silentSince: new Map(NAMES.map((name) => [name, minutes(-20)])) });
  const { verdicts } = plan(silent, POLICY, NOW);
  for (let look = 0; look < 3; look++) missing.tell(silent, verdicts, minutes(-15));
  await expectPaced(own);
});

test('so are ten thousand updates that start at once', async () => {
  const own = world();
  const told = { events: own.queue, metrics: new ControllerMetrics(), namespace: NAMESPACE };
  const chronicle = new Chronicle({ ...told, clock: own.clock, logger: silentLogger });
  const unlimited = { kind: 'unlimited' } as const;
  const waiting = fleet(many({}));
  const { commands } = plan(waiting, { ...POLICY, maxConcurrent: unlimited, maxFailed: unlimited }, NOW);
  for (const [index, command] of commands.entries()) chronicle.carriedOut(command, waiting.shadows[index]!);
  await expectPaced(own);
});

test('and ten thousand nodes that do not return', async () => {
  const own = world();
  const setbacks = new Setbacks({ events: own.queue, metrics: new ControllerMetrics(), namespace: NAMESPACE });
  const down = { ready: false, readyChangedAt: minutes(-20), marks: DRAINED };
  const lost = fleet(many(rebooting), { nodes: NAMES.map((name) => node(name, down)) });
  for (let look = 0; look < 2; look++) setbacks.tell(plan(lost, POLICY, NOW), lost);
  await expectPaced(own);
});

test('a missing agent of which the cluster could not be told is told later', async () => {
  const { clock, api, queue, end } = world();
  const missing = new MissingAgents(queue);
  const silent = snapshot({ nodes: [node('a')], silentSince: new Map([['a', minutes(-20)]]) });
  const look = async (): Promise<void> => {
    missing.tell(silent, plan(silent, POLICY, NOW).verdicts, minutes(-15));
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
