import { expect, test } from '@jest/globals';
import { EventBroadcaster } from '../../runtime/kube/event-broadcaster.ts';
import type { EventRecord } from '../../runtime/kube/event-recorder.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';

const CAPACITY = 10_000;

/** Takes Events, and runs until it is ended. */
function world() {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const written: EventRecord[] = [];
  const record = async (event: EventRecord): Promise<boolean> => written.push(event) > 0;
  const events = new EventBroadcaster({ record }, clock);
  const running = events.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { clock, events, written, end };
}

const about = (name: string, message = 'x'): EventRecord => ({
  regarding: { apiVersion: 'v1', kind: 'Node', name },
  type: 'Normal',
  reason: 'X',
  message,
});
const fill = (events: EventBroadcaster): Promise<boolean>[] =>
  Array.from({ length: CAPACITY }, (_, index) => events.record(about(`n${index}`)));

test('ten thousand Events are written at ten a second, each once, and one of the fleet before them', async () => {
  const { clock, events, written, end } = world();
  const waiting = fill(events);
  await clock.advance(1000);
  expect(await events.recordNow(about('fleet'))).toBe(true);
  expect(written.at(-1)).toMatchObject({ regarding: { name: 'fleet' } });
  expect(written.length).toBeGreaterThan(5);
  expect(written.length).toBeLessThanOrEqual(12);
  await clock.advance(CAPACITY * 100);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([true]));
  expect(new Set(written.map(({ regarding }) => regarding.name)).size).toBe(CAPACITY + 1);
  expect(written).toHaveLength(CAPACITY + 1);
  await end();
});

test('what flaps is told a few times and then rarely', async () => {
  const { clock, events, written, end } = world();
  for (let times = 0; times < 100; times++) void events.record(about('a', String(times)));
  await clock.advance(10_000);
  expect(written).toHaveLength(10);
  expect(await events.recordNow(about('a'))).toBe(false);
  await clock.advance(30_000);
  expect(await events.recordNow(about('a'))).toBe(true);
  await end();
});

test('what waits beyond ten thousand is dropped, and so is all that waits at the end', async () => {
  const { events, written, end } = world();
  const waiting = fill(events);
  expect(await events.record(about('one more'))).toBe(false);
  await end();
  expect((await Promise.all(waiting)).filter(Boolean)).toHaveLength(written.length);
  expect(written.length).toBeLessThan(5);
});
