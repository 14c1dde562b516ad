import { beforeEach, describe, expect, test } from '@jest/globals';
import { Authenticator } from '../../../runtime/apiserver/auth/authenticator.ts';
import type { Credentials } from '../../../runtime/apiserver/auth/credentials.ts';
import { UnreachableError } from '../../../runtime/kube/errors.ts';
import type { Pod } from '../../../runtime/kube/objects.ts';
import { nodesOf, podsOf } from '../../../runtime/kube/resources.ts';
import type { TokenReviewStatus } from '../../../runtime/kube/reviews.ts';
import {
  AGENT_SERVICE_ACCOUNT,
  CONTROLLER_SERVICE_ACCOUNT,
  NAMESPACE,
  TOKEN_AUDIENCE,
} from '../../../runtime/api/shadow/names.ts';
import { addAccounts, addAgentPod, projectedToken } from '../agents.ts';
import { outcome, type Replica, World } from '../world.ts';

const ADDRESS = '10.0.0.1';

let world: World;
let replica: Replica;

beforeEach(async () => {
  world = await World.create();
  replica = world.replica();
  await addAccounts(world);
  await addAgentPod(world, 'agent-1');
});

const credentials = async (more: Partial<Credentials> = {}): Promise<Credentials> => ({
  ...(await world.agent()),
  token: more.token ?? (await projectedToken(world)),
  ...more,
});

const authenticate = (sent: Credentials): Promise<string> => outcome(replica.authenticator.authenticate(sent, ADDRESS));

/** What an API server says of the agent's token, besides the pod that it is bound to. */
async function authenticateAs(bound: Readonly<Record<string, string>>): Promise<string> {
  const { metadata } = (await world.get(`/api/v1/namespaces/${NAMESPACE}/pods/agent-1`)) as Pod;
  const extra = { 'pod-name': 'agent-1', 'pod-uid': metadata.uid, ...bound };
  const review = async (): Promise<TokenReviewStatus> => ({
    authenticated: true,
    audiences: [TOKEN_AUDIENCE],
    user: {
      username: `system:serviceaccount:${NAMESPACE}:${AGENT_SERVICE_ACCOUNT}`,
      extra: Object.fromEntries(
        Object.entries(extra).map(([name, value]) => [`authentication.kubernetes.io/${name}`, [value]]),
      ),
    },
  });
  const { transport, clock } = world;
  const ports = { reviews: { review }, pods: podsOf(transport, NAMESPACE), nodes: nodesOf(transport) };
  const authenticator = new Authenticator({ ...ports, clock, random: Math.random, namespace: NAMESPACE });
  return outcome(authenticator.authenticate(await credentials(), ADDRESS));
}

describe('an agent', () => {
  test('is known by the token of its own pod', async () => {
    const sent = await credentials();
    expect(await replica.authenticator.authenticate(sent, ADDRESS)).toEqual(await world.agent());
  });

  test('is known where Kubernetes names no node in a token, as it did before 1.30', async () => {
    expect(await authenticateAs({})).toBe('ok');
  });

  test('is known on a Node that was made anew under its name, while its pod is there', async () => {
    const sent = await credentials();
    await replica.authenticator.authenticate(sent, ADDRESS);
    await world.delete('/api/v1/nodes/n1');
    expect(await authenticate({ ...sent, nodeUid: 'to come' })).toBe('403 Forbidden');
    await world.clock.advance(10_000);
    await world.addNode('n1');
    const anew = { ...sent, ...(await world.agent()) };
    expect(anew.nodeUid).not.toBe(sent.nodeUid);
    expect(await authenticate(anew)).toBe('ok');
    await world.endPod('agent-1', NAMESPACE);
    await world.clock.advance(10_000);
    expect(await authenticate(anew)).toBe('401 Unauthorized');
  });

  test('costs no Node a request where its token names the one that it speaks for, and else one in ten seconds', async () => {
    const nodes = (): number => replica.tap.requests.filter(({ path }) => path === '/api/v1/nodes/n1').length;
    const sent = await credentials();
    await replica.authenticator.authenticate(sent, ADDRESS);
    expect(nodes()).toBe(0);
    for (const nodeUid of ['a', 'b', 'c']) expect(await authenticate({ ...sent, nodeUid })).toBe('403 Forbidden');
    expect(nodes()).toBe(1);
  });

  test('costs one TokenReview in ten seconds, however much it asks', async () => {
    const sent = await credentials();
    const reviews = (): number => replica.tap.requests.filter(({ path }) => path.endsWith('/tokenreviews')).length;
    await Promise.all(Array.from({ length: 50 }, () => replica.authenticator.authenticate(sent, ADDRESS)));
    expect(reviews()).toBe(1);
    await world.clock.advance(10_000);
    await replica.authenticator.authenticate(sent, ADDRESS);
    expect(reviews()).toBe(2);
  });
});

describe('refused is', () => {
  test('a stolen token, used for another node', async () => {
    await world.addNode('n2');
    expect(await authenticate({ ...(await world.agent('n2')), token: await projectedToken(world) })).toBe(
      '403 Forbidden',
    );
  });

  test('a good token with the UID of another node of that name, also when it is known', async () => {
    const sent = await credentials();
    await replica.authenticator.authenticate(sent, ADDRESS);
    expect(await authenticate({ ...sent, nodeUid: 'earlier' })).toBe('403 Forbidden');
  });

  test('a pod of the same name and account in another namespace', async () => {
    await addAgentPod(world, 'agent-1', { namespace: 'shop' });
    expect(await authenticate(await credentials({ token: await projectedToken(world, { namespace: 'shop' }) }))).toBe(
      '401 Unauthorized',
    );
  });

  test('another service account of our namespace, with a pod that calls itself an agent', async () => {
    await addAgentPod(world, 'fake', { account: CONTROLLER_SERVICE_ACCOUNT });
    const stolen = await projectedToken(world, { account: CONTROLLER_SERVICE_ACCOUNT, pod: 'fake' });
    expect(await authenticate(await credentials({ token: stolen }))).toBe('401 Unauthorized');
  });

  test('a pod of the agents’ account that is no agent', async () => {
    await addAgentPod(world, 'other', { component: 'apiserver' });
    expect(await authenticate(await credentials({ token: await projectedToken(world, { pod: 'other' }) }))).toBe(
      '401 Unauthorized',
    );
  });

  test('a token that is bound to no pod', async () => {
    expect(await authenticate(await credentials({ token: await projectedToken(world, { pod: null }) }))).toBe(
      '401 Unauthorized',
    );
  });

  test('a token for another audience', async () => {
    const other = await projectedToken(world, { audience: 'vault' });
    expect(await authenticate(await credentials({ token: other }))).toBe('401 Unauthorized');
  });

  test('an expired token', async () => {
    const sent = await credentials();
    await world.clock.advance(3601_000);
    expect(await authenticate(sent)).toBe('401 Unauthorized');
  });

  test('the token of a deleted pod, within ten seconds', async () => {
    const sent = await credentials();
    await replica.authenticator.authenticate(sent, ADDRESS);
    await world.endPod('agent-1', NAMESPACE);
    await world.clock.advance(10_000);
    expect(await authenticate(sent)).toBe('401 Unauthorized');
  });

  test('a pod that has ended', async () => {
    const sent = await credentials();
    await world.patch(`/api/v1/namespaces/${NAMESPACE}/pods/agent-1/status`, { status: { phase: 'Failed' } });
    expect(await authenticate(sent)).toBe('401 Unauthorized');
  });

  test('a good token with the name of another node beside its own UID', async () => {
    await world.addNode('n2');
    expect(await authenticate(await credentials({ nodeName: 'n2' }))).toBe('403 Forbidden');
  });

  test('a text that is no token', async () => {
    expect(await authenticate(await credentials({ token: 'x' }))).toBe('401 Unauthorized');
  });
});

test('while tokens cannot be reviewed nobody is let in, and the failure is not remembered', async () => {
  const sent = await credentials();
  replica.tap.before = ({ path }) => {
    if (path.endsWith('/tokenreviews')) throw new UnreachableError('out');
  };
  await expect(replica.authenticator.authenticate(sent, ADDRESS)).rejects.toThrow(UnreachableError);
  replica.tap.before = () => undefined;
  expect(await authenticate(sent)).toBe('ok');
});

describe('a flood of made-up tokens', () => {
  /** Tokens that say what an agent's says, and that no review has answered yet. */
  async function flood(count: number, address: string): Promise<string> {
    const [header, payload] = (await projectedToken(world)).split('.');
    const sent = await credentials();
    replica.tap.before = async ({ path, body }) => {
      const { token } = (body as { spec?: { token?: string } } | undefined)?.spec ?? {};
      if (path.endsWith('/tokenreviews') && token?.includes('.madeup')) await new Promise(() => undefined);
    };
    const all = Array.from({ length: count }, (_, index) =>
      outcome(replica.authenticator.authenticate({ ...sent, token: `${header}.${payload}.madeup${index}` }, address)),
    );
    const ends = new Set(await Promise.all(all));
    return [...ends].toSorted().join(', ');
  }

  const reviews = (): number => replica.tap.requests.filter(({ path }) => path.endsWith('/tokenreviews')).length;

  test('costs no more reviews at a time than one address may have, and 503 beyond those that may wait', async () => {
    expect(await flood(1000, ADDRESS)).toBe('503 Busy, pending');
    expect(reviews()).toBe(16);
  });

  test('from many addresses costs at most half of the connections for requests', async () => {
    for (const address of [ADDRESS, '10.0.0.2', '10.0.0.3']) await flood(50, address);
    expect(reviews()).toBe(32);
  });

  test('keeps no agent of another address waiting, and none that was known before', async () => {
    const known = await credentials();
    expect(await authenticate(known)).toBe('ok');
    await world.clock.advance(10_000);
    const unknown = await credentials();
    await flood(1000, ADDRESS);
    expect(await authenticate(known)).toBe('ok');
    expect(await outcome(replica.authenticator.authenticate(unknown, '10.0.0.2'))).toBe('ok');
  });

  test('costs nothing where its tokens could never be an agent’s', async () => {
    const sent = await credentials();
    const other = await projectedToken(world, { audience: 'vault' });
    for (const token of ['x', other]) expect(await authenticate({ ...sent, token })).toBe('401 Unauthorized');
    expect(reviews()).toBe(0);
  });
});
