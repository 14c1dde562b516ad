import { expect, test } from '@jest/globals';
import { line } from './line-stage.ts';

test.each([
  [true, 1],
  [false, 0],
])('a moment counts as struck where a fault begins there: %s', async (begins, struck) => {
  const world = await line();
  world.strike('between', () => undefined, begins);
  expect(world.counts()).toEqual({ seen: 0, struck: 0 });
  world.cordon();
  await world.advance(60_000);
  expect(world.counts()).toEqual({ seen: 1, struck });
});

test.each([
  { phase: 'before', when: 'before its write', cordoned: false, heard: [] },
  { phase: 'between', when: 'when its write has landed', cordoned: true, heard: [] },
  { phase: 'after', when: 'when its write was answered', cordoned: true, heard: ['answer'] },
] as const)('a process that is killed $when has neither sent nor heard more', async (at) => {
  const world = await line();
  world.strike(at.phase, ({ process }) => process.kill());
  world.cordon();
  await world.advance(60_000);
  expect({ cordoned: await world.isCordoned(), heard: world.heard }).toEqual({
    cordoned: at.cordoned,
    heard: at.heard,
  });
});

test('a write that is lost on its way back has landed, and its sender hears nothing but that the connection broke', async () => {
  const world = await line();
  world.strike('before', (struck) => {
    struck.outcome = { kind: 'lost', lands: { afterMs: 5000 } };
  });
  world.cordon();
  await world.advance(4000);
  expect(world.heard).toEqual([expect.stringMatching(/^UnreachableError/)]);
  expect(await world.isCordoned()).toBe(false);
  await world.advance(5000);
  expect(await world.isCordoned()).toBe(true);
});

test.each([
  { who: 'that waits for it', waits: true },
  { who: 'that was killed meanwhile', waits: false },
])('the answer of a proxy is that of a process $who', async ({ waits }) => {
  const world = await line();
  world.strike('before', (struck) => {
    struck.outcome = { kind: 'lost', lands: false, code: 502 };
    if (!waits) world.time.after(1, () => struck.process.kill());
  });
  world.cordon();
  await world.advance(20_000);
  expect(world.entries.flatMap((entry) => (entry.kind === 'request' ? [entry.code] : []))).toEqual(waits ? [502] : []);
});

test('what is sent over a line that is cut arrives when it heals; its sender may have given up by then', async () => {
  const world = await line();
  const heal = world.network.partition('api', 'apiserver-0');
  world.cordon();
  await world.advance(20_000);
  expect(await world.isCordoned()).toBe(false);
  heal();
  await world.advance(1000);
  expect({ cordoned: await world.isCordoned(), heard: world.heard }).toEqual({ cordoned: true, heard: ['answer'] });
});

test('one that waits gives up in its time, whatever hangs', async () => {
  const world = await line();
  world.network.disturb('apiserver-0', { kind: 'hangs', lands: false }, { count: 1 });
  world.cordon();
  await world.advance(31_000);
  expect(world.heard).toEqual([expect.stringMatching(/^UnreachableError.*timed out/)]);
  world.cordon();
  await world.advance(1000);
  expect(world.heard.at(-1)).toBe('answer');
});

test('a frozen process hears nothing, and then all of it; its timeouts have gone on', async () => {
  const world = await line();
  const thaw = world.life.freeze();
  world.cordon();
  world.hear(world.clock.sleep(1000), 'slept');
  await world.advance(60_000);
  expect({ cordoned: await world.isCordoned(), heard: world.heard }).toEqual({ cordoned: true, heard: [] });
  thaw();
  await world.advance(0);
  expect(world.heard.toSorted()).toEqual(['answer', 'slept']);
});

/** What a watch of the Node has shown. */
async function watched() {
  const world = await line();
  const seen: string[] = [];
  const read = async (): Promise<void> => {
    for await (const { type, object } of world.kube.watch({ path: '/api/v1/nodes', query: { resourceVersion: '0' } })) {
      const { labels } = (object as { metadata: { labels?: Record<string, string> } }).metadata;
      seen.push(`${type} ${labels?.['value'] ?? ''}`.trim());
    }
  };
  world.hear(read(), 'end');
  await world.advance(1000);
  return { ...world, seen };
}

test('a watch that lags shows everything in order, each as much later', async () => {
  const world = await watched();
  const end = world.network.lagWatches('apiserver-0', 30_000);
  for (const value of ['a', 'b', 'c']) await world.change(value);
  await world.advance(29_000);
  expect(world.seen).toEqual(['ADDED']);
  end();
  await world.change('d');
  await world.advance(3000);
  expect(world.seen).toEqual(['ADDED', 'MODIFIED a', 'MODIFIED b', 'MODIFIED c', 'MODIFIED d']);
});

test('a mute watch says nothing of its end either, until its client has waited for too long', async () => {
  const world = await watched();
  world.network.muteWatches('apiserver-0');
  await world.change('a');
  await world.advance(170_000);
  expect([...world.seen, ...world.heard]).toEqual(['ADDED']);
  await world.advance(20_000);
  expect(world.heard).toEqual([expect.stringMatching(/^UnreachableError.*silent/)]);
});

test('the watches of a process that was killed end at the server', async () => {
  const world = await watched();
  world.life.end();
  await world.change('a');
  await world.advance(400_000);
  expect([...world.seen, ...world.heard]).toEqual(['ADDED']);
});

test('a kind that the Kubernetes API does not have is answered as a proxy might: not by a Status', async () => {
  const { kube, hear, heard, advance } = await line();
  hear(kube.request({ method: 'GET', path: '/apis/example.com/v1/gadgets' }));
  await advance(1000);
  expect(heard).toEqual(['UnexpectedAnswerError: GET /apis/example.com/v1/gadgets: 404 Not Found: no message']);
});
