import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { connect } from 'node:tls';
import { apiStatusError, UnexpectedAnswerError, UnreachableError } from '../../runtime/kube/errors.ts';
import { addAgentPod, projectedToken } from './agents.ts';
import {
  type Ask,
  ca,
  counted,
  HttpsWorld,
  refusal,
  type Reply,
  RESOURCE,
  SERVICE,
  servingCertificate,
} from './https-world.ts';
import { until } from './until.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { inTime } from '../in-time.ts';
import { hold, type Replica, type World } from './world.ts';

let https: HttpsWorld;
let world: World;
let replica: Replica;

beforeEach(async () => {
  https = await HttpsWorld.create();
  ({ world, replica } = https);
});

afterEach(() => https.close());

const send = (method: string, path: string, ask?: Ask): Promise<Reply> => https.send(method, path, ask);
const isEvicting = async (): Promise<boolean> => (await world.pods()).some((pod) => pod.metadata.deletionTimestamp);
const identity = (): Record<string, string> => https.identity();

describe('an agent over TLS', () => {
  test('creates its shadow, reports, is drained and uncordoned', async () => {
    const headers = identity();
    expect(await send('POST', RESOURCE, { headers })).toMatchObject({
      status: 200,
      body: expect.stringContaining('brs-n1'),
    });
    const status = {
      current_version: '1.38.0',
      target_version: '1.39.0',
      current_state: 'StagedAndPerformedUpdate',
      crash_count: 0,
    };
    const put = await send('PUT', RESOURCE, { headers, body: JSON.stringify(status) });
    expect(JSON.parse(put.body)).toEqual(status);
    expect(await send('POST', `${RESOURCE}/exclude-from-lb`, { headers })).toMatchObject({ status: 200, body: '' });
    expect(await send('POST', `${RESOURCE}/cordon-and-drain`, { headers })).toMatchObject({ status: 200, body: '' });
    await world.boots('1.39.0', 'boot-2');
    expect(await send('POST', `${RESOURCE}/remove-exclusion-from-lb`, { headers })).toMatchObject({ status: 200 });
    expect(await send('POST', `${RESOURCE}/uncordon`, { headers })).toMatchObject({ status: 200, body: '' });
    expect((await world.node()).spec?.unschedulable).toBeUndefined();
  });

  test('that sends an old version of its shadow is told to look again', async () => {
    const body = JSON.stringify((await world.shadow()).status);
    const headers = { ...identity(), BrupopShadowVersion: '1' };
    const reply = await send('PUT', RESOURCE, { headers, body });
    expect([reply.status, JSON.parse(reply.body)]).toEqual([
      409,
      { reason: 'Conflict', error: expect.stringContaining('look again') },
    ]);
  });

  test('that goes away ends its wait, not the drain', async () => {
    await world.addPod('web-1');
    const gone = new AbortController();
    const asked = send('POST', `${RESOURCE}/cordon-and-drain`, { headers: identity(), tls: { signal: gone.signal } });
    asked.catch(() => undefined);
    await until(world.clock, isEvicting);
    gone.abort();
    await expect(asked).rejects.toThrow();
    const left = async (): Promise<boolean> =>
      (await replica.metrics.refusals.get()).values.some(
        ({ labels, value }) => labels.reason === 'ClientGone' && value === 1,
      );
    await until(world.clock, left);
    const again = send('POST', `${RESOURCE}/cordon-and-drain`, { headers: identity() });
    await world.endPod('web-1');
    expect(await again).toMatchObject({ status: 200 });
    expect(replica.tap.watches.filter(({ path }) => path === '/api/v1/pods')).toHaveLength(1);
  });
});

test('a request that is aborted before its token is reviewed does nothing: no node is cordoned', async () => {
  await world.addPod('web-1');
  const review = hold(replica.tap, ({ path }) => path.endsWith('/tokenreviews'));
  const gone = new AbortController();
  const asked = send('POST', `${RESOURCE}/cordon-and-drain`, { headers: identity(), tls: { signal: gone.signal } });
  await until(world.clock, async () => replica.tap.requests.some(({ path }) => path.endsWith('/tokenreviews')));
  gone.abort();
  await expect(asked).rejects.toThrow();
  await until(world.clock, async () => (await https.connections()) === 0);
  await review.release();
  await until(world.clock, async () => (await counted(https, 'ClientGone')) === 1);
  expect(replica.tap.requests.filter(({ method }) => method === 'PATCH')).toEqual([]);
  expect((await world.node()).spec?.unschedulable).toBeUndefined();
});

test('a node has a few requests under way, and a place again for each caller who has gone', async () => {
  await world.addPod('web-1');
  const gone = new AbortController();
  const drain = (tls?: object) =>
    send('POST', `${RESOURCE}/cordon-and-drain`, { headers: identity(), ...(tls && { tls }) });
  const waiting = [drain({ signal: gone.signal }), drain(), drain(), drain()];
  const waiters = async () => replica.tap.requests.filter(({ path }) => path === '/api/v1/pods').length;
  await until(world.clock, async () => (await waiters()) >= 4);
  expect(await refusal(drain())).toBe('429 TooManyRequests');
  const other = await another('n2');
  expect(await send('POST', RESOURCE, { headers: other })).toMatchObject({ status: 200 });
  gone.abort();
  await until(world.clock, async () => (await counted(https, 'ClientGone')) === 1);
  const again = drain();
  await world.endPod('web-1');
  expect(await Promise.all([again, ...waiting.slice(1)].map(async (reply) => (await reply).status))).toEqual(
    Array(4).fill(200),
  );
});

/** The headers of an agent of another node. */
async function another(nodeName: string): Promise<Record<string, string>> {
  await world.addNode(nodeName);
  await addAgentPod(world, 'agent-2', { node: nodeName });
  const { nodeUid } = await world.agent(nodeName);
  const token = await projectedToken(world, { pod: 'agent-2' });
  return { BrupopNodeName: nodeName, BrupopNodeUid: nodeUid, BrupopK8sAuthToken: token };
}

describe('a refusal', () => {
  test('is JSON with a reason, for every route and caller', async () => {
    expect(await refusal(send('POST', RESOURCE))).toBe('401 Unauthorized');
    expect(await refusal(send('POST', RESOURCE, { headers: { ...identity(), BrupopNodeUid: 'x' } }))).toBe(
      '403 Forbidden',
    );
    const twice = { ...identity(), BrupopNodeName: ['n1', 'n2'] };
    expect(await refusal(send('POST', RESOURCE, { headers: twice }))).toBe('400 BadRequest');
    expect(await refusal(send('GET', '/nothing'))).toBe('404 NotFound');
    expect(await refusal(send('DELETE', RESOURCE))).toBe('405 BadRequest');
    expect(await refusal(send('PUT', RESOURCE, { headers: identity(), body: '{' }))).toBe('400 BadRequest');
    expect(await refusal(send('PUT', RESOURCE, { headers: identity(), body: '{}' }))).toBe('400 InvalidStatus');
    const huge = send('PUT', RESOURCE, { headers: identity(), body: ' '.repeat(70_000) });
    expect(await refusal(huge)).toBe('413 TooLarge');
  });

  test('is 400 with the reason for a body that is nested deeper than it can be read', async () => {
    const body = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const error = 'the body: expected at most 100 lists and objects within each other';
    expect(await send('PUT', RESOURCE, { headers: identity(), body })).toMatchObject({
      status: 400,
      body: JSON.stringify({ error, reason: 'BadRequest' }),
    });
  });

  test('of the Kubernetes API is passed on in its words, an outage asks to come again', async () => {
    replica.tap.before = ({ method, path }) => {
      const message = 'User "x" cannot patch resource "nodes"';
      if (method === 'PATCH' && path === '/api/v1/nodes/n1') throw apiStatusError('PATCH', { code: 403, message });
    };
    const denied = await send('POST', `${RESOURCE}/cordon-and-drain`, { headers: identity() });
    expect([denied.status, denied.body]).toEqual([502, expect.stringContaining('cannot patch resource \\"nodes\\"')]);
    replica.tap.before = () => {
      throw new UnreachableError('connect ECONNREFUSED 10.0.0.1');
    };
    const out = await send('POST', `${RESOURCE}/cordon-and-drain`, { headers: identity() });
    expect([out.status, JSON.parse(out.body)]).toEqual([
      503,
      { reason: 'KubernetesUnavailable', error: 'the Kubernetes API does not answer' },
    ]);
  });

  test("of a status by the Kubernetes API is told from a token that is not the node's, and from what is refused before the write", async () => {
    const refuse = (method: string, code: number): void => {
      replica.tap.before = (request) => {
        if (request.method === method && request.path.includes('brs-n1')) throw apiStatusError(method, { code });
      };
    };
    const status = { current_version: '1.38.0', target_version: '1.39.0', current_state: 'Idle', crash_count: 0 };
    const put = (): Promise<string> =>
      refusal(send('PUT', RESOURCE, { headers: identity(), body: JSON.stringify(status) }));
    for (const [method, code, answer] of [
      ['PATCH', 403, '502 StatusRefused'],
      ['PATCH', 422, '502 StatusRefused'],
      ['GET', 403, '502 KubernetesRefused'],
      ['PATCH', 404, '503 Conflict'],
      ['PATCH', 429, '503 KubernetesUnavailable'],
      ['PATCH', 500, '503 KubernetesUnavailable'],
    ] as const) {
      refuse(method, code);
      expect([method, code, await put()]).toEqual([method, code, answer]);
    }
    // The page of a proxy says nothing of the status.
    replica.tap.before = ({ method, path }) => {
      if (method === 'PATCH' && path.includes('brs-n1')) throw new UnexpectedAnswerError(method, { code: 403 });
    };
    expect(await put()).toBe('502 KubernetesRefused');
  });

  test('for an error that nobody expected says nothing of the inside', async () => {
    replica.tap.before = () => {
      throw new TypeError('secret');
    };
    const reply = await send('POST', RESOURCE, { headers: identity() });
    expect([reply.status, reply.body.includes('secret')]).toEqual([500, false]);
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f]{16}$/);
  });

  test('comes from the connection for headers that are too large, and for TLS below 1.2', async () => {
    expect(await send('POST', RESOURCE, { headers: { 'x-large': 'x'.repeat(20_000) } })).toMatchObject({ status: 431 });
    const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' };
    await expect(send('GET', '/ping', { tls: old })).rejects.toThrow(/protocol version/);
  });
});

describe('without credentials', () => {
  test('a conversion is answered, with 200 whatever is sent', async () => {
    for (const body of ['', 'garbage', '{}', '[1]']) {
      const reply = await send('POST', '/crdconvert', { body });
      expect([reply.status, JSON.parse(reply.body)]).toMatchObject([
        200,
        { response: { result: { status: 'Failed' } } },
      ]);
    }
  });

  test('ping answers, and metrics count by route template', async () => {
    expect(await send('GET', '/ping')).toMatchObject({ status: 200 });
    await send('POST', `${RESOURCE}/uncordon`);
    await send('GET', '/nothing/1');
    await send('GET', '/nothing/2');
    const { body } = await send('GET', '/metrics');
    expect(body).toContain(
      'brupop_apiserver_http_requests_total{method="POST",route="/bottlerocket-node-resource/uncordon",code="401"} 1',
    );
    expect(body).toContain('brupop_apiserver_http_requests_total{method="unknown",route="unknown",code="404"} 2');
    expect(body).toContain(
      'brupop_apiserver_http_request_duration_seconds_count{method="POST",route="/bottlerocket-node-resource/uncordon"} 1',
    );
    expect(body).toContain('brupop_apiserver_refusals_total{reason="Unauthorized"} 1');
  });
});

test('a new certificate is served to new connections, those that there are go on', async () => {
  const served = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({
        host: '127.0.0.1',
        port: https.server.port,
        ca: ca.certPem,
        servername: SERVICE,
      });
      socket.once('error', reject).once('secureConnect', () => {
        resolve(socket.getPeerCertificate().fingerprint256);
        socket.destroy();
      });
    });
  await world.addPod('web-1');
  const waiting = send('POST', `${RESOURCE}/cordon-and-drain`, { headers: identity() });
  await until(world.clock, isEvicting);
  const before = await served();
  https.server.use(await servingCertificate());
  expect(await served()).not.toBe(before);
  await world.endPod('web-1');
  expect(await waiting).toMatchObject({ status: 200 });
});

test('at its end a replica tells who waits to ask again', async () => {
  await world.addPod('web-1');
  const waiting = send('POST', `${RESOURCE}/cordon-and-drain`, { headers: identity() });
  await until(world.clock, isEvicting);
  replica.service.close();
  expect(await waiting).toMatchObject({ status: 503, body: expect.stringContaining('ShuttingDown') });
});

test('at its end a replica waits for no connection that has asked for nothing', async () => {
  await https.socket();
  await inTime('its end', https.server.close(new VirtualClock(), 5_000));
});
