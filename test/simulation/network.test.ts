import { expect, test } from '@jest/globals';
import type { Reply } from '../../runtime/agentapi/client.ts';
import { type Clock } from '../../runtime/lib/clock.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { ADMIN, EmbeddedCluster } from '../../sim/cluster/cluster.ts';
import { seeded } from '../random.ts';
import { Life, ProcessClock, TrueTime } from './clock.ts';
import { History } from './history.ts';
import { Moments } from './moments.ts';
import { SimulatedNetwork } from './network.ts';
import type { Entry, Phase, Process, Struck } from './types.ts';

const NODE = '/api/v1/nodes/n1';
const CORDON = { spec: { unschedulable: true } };

/** One apiserver that speaks with a Kubernetes API in which there is one Node. */
async function line() {
  const time = new TrueTime(seeded(1));
  const cluster = new EmbeddedCluster({ clock: time, random: seeded(2) });
  const moments = new Moments(time);
  const entries: Entry[] = [];
  const history = new History(
    () => time.monotonic(),
    (entry) => entries.push(entry),
  );
  const agentRuns = (): boolean => true;
  const network = new SimulatedNetwork({ time, cluster, history, moments, agentRuns, random: seeded(3) });
  const admin = cluster.transport(ADMIN);
  await admin.request({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name: 'n1' } } });
  const life = new Life();
  const process = { name: 'apiserver-0', kind: 'apiserver', kill: () => life.end() } as Process;
  const clock: Clock = new ProcessClock(time, life, () => 0);
  const kube: KubeTransport = network.kube({ process, life, user: ADMIN });
  const heard: string[] = [];
  const hear = (work: Promise<unknown>, name = 'answer'): void => {
    work.then(
      () => heard.push(name),
      (error: Error) => heard.push(`${error.name}: ${error.message}`),
    );
  };
  return {
    time,
    network,
    entries,
    moments,
    life,
    kube,
    clock,
    heard,
    hear,
    cordon: (): void => hear(patch(kube, CORDON)),
    change: (value: string): Promise<unknown> => patch(admin, { metadata: { labels: { value } } }),
    isCordoned: async (): Promise<boolean> => {
      const { spec } = (await admin.request({ method: 'GET', path: NODE })) as { spec?: { unschedulable?: boolean } };
      return spec?.unschedulable === true;
    },
    /** Lets something happen to the process around its cordon. */
    strike: (phase: Phase, happen: (struck: Struck) => void, begins = true): void =>
      moments.aim({ kind: 'moment', moment: 'cordon', phase, from: 0, delayMs: 0 }, (struck) => {
        happen(struck);
        return begins;
      }),
    counts: (): object | undefined => moments.counts['cordon'],
    advance: (ms: number): Promise<void> => time.run(time.monotonic() + ms),
  };
}

function patch(transport: KubeTransport, body: object): Promise<unknown> {
  return transport.request({ method: 'PATCH', path: NODE, body, contentType: 'application/merge-patch+json' });
}

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

/** An agent that asks an apiserver which never answers; `ended` = when that heard that the agent has hung up. */
async function asking() {
  const { time, network, advance } = await line();
  const [server, client] = [new Life(), new Life()];
  const ended: number[] = [];
  const serve = (_: unknown, gone: AbortSignal): Promise<never> =>
    new Promise(() => gone.addEventListener('abort', () => ended.push(Math.round(time.monotonic() / 1000))));
  network.open({ name: 'apiserver-1', life: server, serve });
  const process = { name: 'agent-n1', kind: 'agent', node: 'n1' } as Process;
  const heard: string[] = [];
  const ask = (signal = new AbortController().signal): void => {
    network
      .exchange({ process, life: client, user: ADMIN })({ method: 'POST', path: '/ask', headers: {} }, signal)
      .catch((error: Error) => heard.push(error.message));
  };
  const cut = (): void => void network.partition('agent-n1', 'apiserver-1');
  return { server, client, ended, heard, ask, cut, advance };
}

test('an apiserver hears of agents that have hung up while the request was on its way, or where nothing gets through any more', async () => {
  const world = await asking();
  const [early, late] = [new AbortController(), new AbortController()];
  for (const { signal } of [early, late]) world.ask(signal);
  early.abort();
  await world.advance(1000);
  expect(world.ended).toHaveLength(1);
  world.cut();
  late.abort();
  await world.advance(30_000);
  expect(world.ended).toHaveLength(1);
  await world.advance(20_000);
  expect(world.ended).toHaveLength(2);
});

test('an apiserver whose machine is off answers nobody, and goes on to be asked until its node counts as lost', async () => {
  const world = await asking();
  world.ask();
  await world.advance(1000);
  world.server.end('silent');
  world.ask();
  await world.advance(40_000);
  expect(world.heard).toEqual([]);
  await world.advance(10_000);
  world.ask();
  await world.advance(1000);
  expect(world.heard).toEqual(['ECONNREFUSED']);
});

test.each([
  { how: undefined, why: 'was killed', noticed: 1 },
  { how: 'silent', why: 'went with its machine', noticed: 41 },
] as const)('an apiserver hears after $noticed s of an agent that $why', async ({ how, noticed }) => {
  const world = await asking();
  world.ask();
  await world.advance(1000);
  world.client.end(how);
  await world.advance(60_000);
  expect(world.ended).toEqual([noticed]);
});

test('a kind that the Kubernetes API does not have is answered as a proxy might: not by a Status', async () => {
  const { kube, hear, heard, advance } = await line();
  hear(kube.request({ method: 'GET', path: '/apis/example.com/v1/gadgets' }));
  await advance(1000);
  expect(heard).toEqual(['UnexpectedAnswerError: GET /apis/example.com/v1/gadgets: 404 Not Found: no message']);
});

test('an agent that speaks for another says its name, and has a token of its own', async () => {
  const { network, entries, advance } = await line();
  const heard: object[] = [];
  const serve = ({ headers }: { readonly headers: object }): Promise<Reply> => {
    heard.push(headers);
    return Promise.resolve({ status: 200, body: '' });
  };
  network.open({ name: 'apiserver-1', life: new Life(), serve });
  const callerOf = (node: string): Readonly<Record<string, string>> => ({
    BrupopNodeName: node,
    BrupopNodeUid: `uid of ${node}`,
    BrupopK8sAuthToken: `token of ${node}`,
  });
  const ask = async (node: string): Promise<void> => {
    const process = { name: `agent-${node}`, kind: 'agent', node } as Process;
    const headers = { ...callerOf(node), BrupopShadowVersion: '7' };
    const send = network.exchange({ process, life: new Life(), user: ADMIN });
    void send({ method: 'POST', path: '/ask', headers }, new AbortController().signal);
    await advance(1000);
  };
  const end = network.speakFor('agent-n1', 'agent-n2');
  for (const node of ['n1', 'n2', 'n1']) await ask(node);
  end();
  await ask('n1');
  const own = { ...callerOf('n1'), BrupopShadowVersion: '7' };
  const assumed = { ...callerOf('n2'), BrupopK8sAuthToken: 'token of n1' };
  expect(heard).toEqual([own, { ...callerOf('n2'), BrupopShadowVersion: '7' }, assumed, own]);
  expect(entries.flatMap((entry) => (entry.kind === 'asked' ? [entry.node] : []))).toEqual(['n1', 'n2', 'n1', 'n1']);
});
