import { afterEach, describe, expect, test } from '@jest/globals';
import { Agent, request as httpsRequest } from 'node:https';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../../sim/cluster/cluster.ts';
import { serveCluster, type ServedCluster } from '../../../sim/cluster/https.ts';
import { Client } from './harness.ts';
import { seeded } from '../../random.ts';

let served: ServedCluster | undefined;

async function serve(): Promise<{ admin: Client; cluster: EmbeddedCluster; front: ServedCluster }> {
  const cluster = new EmbeddedCluster({ clock: systemClock, random: seeded() });
  served = await serveCluster(cluster);
  return { admin: new Client(cluster.transport(ADMIN)), cluster, front: served };
}

afterEach(async () => {
  await served?.close();
  served = undefined;
});

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A bare HTTPS exchange, for what a well-behaved client would not send. */
function ask(
  front: ServedCluster,
  method: string,
  path: string,
  more: { headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ ca: front.caPem });
    const request = httpsRequest(`${front.url}${path}`, { method, agent, headers: more.headers ?? {} }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('close', () => resolve({ status: response.statusCode ?? 0, body }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(more.body);
  });
}

function token(front: ServedCluster): string {
  const config = JSON.parse(front.kubeconfig(ADMIN)) as { users: { user: { token: string } }[] };
  return config.users[0]?.user.token ?? '';
}

describe('over HTTPS', () => {
  test('a service account token authenticates', async () => {
    const { admin, front } = await serve();
    await admin.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'sa' } });
    const made = await admin.create('/api/v1/namespaces/default/serviceaccounts/sa/token', { spec: {} });
    const bearer = (made['status'] as { token: string }).token;
    const review = { headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }, body: '{}' };
    const answer = await ask(front, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
    expect(answer).toMatchObject({ status: 201, body: expect.stringContaining('system:serviceaccount:default:sa') });
  });

  test('closing ends the watches', async () => {
    const { front } = await serve();
    const authorization = `Bearer ${token(front)}`;
    const watch = ask(front, 'GET', '/api/v1/nodes?watch=true', { headers: { authorization } });
    const over = watch.then(
      () => true,
      () => true,
    );
    await ask(front, 'GET', '/healthz');
    await front.close();
    served = undefined;
    expect(await over).toBe(true);
  });
});
