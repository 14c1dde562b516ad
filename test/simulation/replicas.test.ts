import { expect, test } from '@jest/globals';
import type { Reply } from '../../runtime/agentapi/client.ts';
import { ADMIN } from '../../sim/cluster/cluster.ts';
import { Life } from './clock.ts';
import { line } from './line-stage.ts';
import type { Process } from './types.ts';

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
  const distrust = (): (() => void) => network.distrust('apiserver-1');
  return { server, client, ended, heard, ask, cut, distrust, advance };
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

test('nobody asks an apiserver whose certificate has expired, and all do again once it is renewed', async () => {
  const world = await asking();
  const renew = world.distrust();
  world.ask();
  await world.advance(1000);
  expect(world.heard).toEqual(['CERT_HAS_EXPIRED']);
  renew();
  world.ask();
  await world.advance(1000);
  expect(world.heard).toHaveLength(1);
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
