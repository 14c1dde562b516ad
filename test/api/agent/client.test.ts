import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { classify, type AgentApi, agentApiClient } from '../../../runtime/agent/apiserver/client.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import type { AgentStatus } from '../../../runtime/api/shadow/model.ts';
import { VirtualClock } from '../../../lab/sim/clock.ts';
import { createCa } from '../../../lab/sim/cluster/pki.ts';
import { json, ScriptedServer } from '../../kube/tls-server.ts';
import { folder } from '../../folder.ts';
import { inTime } from '../../in-time.ts';

const CALLER = { nodeName: 'n1', nodeUid: 'uid-1', bootId: 'boot-1' };
const SERVICE = 'brupop-apiserver.brupop-bottlerocket-aws.svc';
const STATUS: AgentStatus = {
  current_version: '1.38.0',
  target_version: '1.38.0',
  current_state: 'Idle',
  crash_count: 0,
};

let caPem: string;
let server: ScriptedServer;
let answer: (response: ServerResponse) => void;

async function serve(): Promise<void> {
  const ca = await createCa(systemClock);
  caPem = ca.certPem;
  const { certPem: cert, keyPem: key } = await ca.issue({ commonName: SERVICE, dnsNames: [SERVICE] });
  server = new ScriptedServer({ cert, key }, (_, response) => answer(response));
  await server.listen();
}

function client(clock = systemClock, keptMs?: number): AgentApi {
  const { port } = server.server.address() as AddressInfo;
  const files = { caPath: join(folder, 'ca.crt'), tokenPath: join(folder, 'token') };
  return agentApiClient({ host: '127.0.0.1', port, servername: SERVICE, clock, ...files, ...(keptMs && { keptMs }) });
}

const provide = (file: 'ca.crt' | 'token', text: string): Promise<void> => writeFile(join(folder, file), text);

beforeEach(async () => {
  answer = (response) => json(response, 200, {});
  await serve();
  await provide('ca.crt', caPem);
  await provide('token', 'token-1\n');
});
afterEach(async () => {
  server.close();
});

describe('a request to the apiserver', () => {
  test('says who asks, for which boot and from which shadow', async () => {
    const asked = client().putStatus(CALLER, { status: STATUS, shadowVersion: '42', shadowState: 'Idle' });
    expect(await asked).toEqual({ kind: 'ok' });
    expect(server.seen[0]).toMatchObject({
      method: 'PUT',
      url: '/bottlerocket-node-resource',
      headers: {
        brupopnodename: 'n1',
        brupopnodeuid: 'uid-1',
        brupopbootid: 'boot-1',
        brupopk8sauthtoken: 'token-1',
        brupopshadowversion: '42',
        brupopshadowstate: 'Idle',
      },
    });
    expect(JSON.parse(server.seen[0]!.body)).toEqual(STATUS);
  });

  test('goes to the path of its action', async () => {
    await client().createShadow(CALLER);
    await client().act(CALLER, 'cordonAndDrain');
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /bottlerocket-node-resource',
      'POST /bottlerocket-node-resource/cordon-and-drain',
    ]);
  });

  test('reaches the Service by its address while its name cannot be resolved, as on a last node whose DNS pods wait for it', async () => {
    const { port } = server.server.address() as AddressInfo;
    const files = { caPath: join(folder, 'ca.crt'), tokenPath: join(folder, 'token') };
    // Longer than a name may be, so that no server is asked for it.
    const options = { host: 'x'.repeat(64), port, servername: SERVICE, clock: systemClock, ...files };
    expect(await agentApiClient(options).act(CALLER, 'uncordon')).toEqual({ kind: 'again', message: 'ENOTFOUND' });
    const withAddress = agentApiClient({ ...options, fallbackHost: '127.0.0.1' });
    expect(await withAddress.act(CALLER, 'uncordon')).toEqual({ kind: 'ok' });
  });

  test('does so within its time too where questions to DNS are dropped', async () => {
    const clock = new VirtualClock();
    const { port } = server.server.address() as AddressInfo;
    const files = { caPath: join(folder, 'ca.crt'), tokenPath: join(folder, 'token') };
    const question = Promise.withResolvers<void>();
    const resolve = (): Promise<never> => new Promise(() => question.resolve());
    const options = { host: SERVICE, port, servername: SERVICE, clock, resolve, fallbackHost: '127.0.0.1', ...files };
    const asked = agentApiClient(options).act(CALLER, 'uncordon');
    await inTime('the question', question.promise);
    await clock.advance(30_000);
    expect(await asked).toEqual({ kind: 'ok' });
  });

  test('bears the token, and trusts the CA, that are on the disk now', async () => {
    await client().act(CALLER, 'uncordon');
    await provide('token', 'token-2');
    await client().act(CALLER, 'uncordon');
    expect(server.seen.map(({ headers }) => headers['brupopk8sauthtoken'])).toEqual(['token-1', 'token-2']);
    server.close();
    await serve();
    expect(await client().act(CALLER, 'uncordon')).toMatchObject({ kind: 'again' });
    await provide('ca.crt', caPem);
    expect(await client().act(CALLER, 'uncordon')).toEqual({ kind: 'ok' });
  });

  test('shares a connection with one that was answered just before, and with none that its replica could not decide', async () => {
    const sockets = new Set<unknown>();
    let status = 200;
    answer = (response) => {
      sockets.add(response.socket);
      json(response, status, {});
    };
    const agent = client(systemClock, 1000);
    const ask = async (): Promise<number> => {
      await agent.act(CALLER, 'uncordon');
      return sockets.size;
    };
    expect([await ask(), await ask()]).toEqual([1, 1]);
    status = 409;
    expect([await ask(), await ask()]).toEqual([1, 1]);
    status = 503;
    expect([await ask(), await ask(), await ask()]).toEqual([1, 2, 3]);
    status = 200;
    expect([await ask(), await ask()]).toEqual([4, 4]);
    const ended = once([...sockets].at(-1) as Socket, 'close');
    await inTime('the end of a connection that nobody uses', ended);
  });

  test('shares it with a status that nobody waits for any more, and that is answered in a moment', async () => {
    const sockets = new Set<unknown>();
    const [ended, answered] = [new AbortController(), Promise.withResolvers<void>()];
    answer = (response) => {
      sockets.add(response.socket);
      ended.abort(new Error('the watch shows it'));
      response.once('finish', answered.resolve);
      setImmediate(() => json(response, 200, {}));
    };
    const agent = client();
    const put = agent.putStatus(CALLER, { status: STATUS, shadowVersion: '42' }, ended.signal);
    await expect(put).rejects.toThrow('the watch shows it');
    await inTime('the answer', answered.promise);
    await new Promise((resolve) => setImmediate(resolve));
    await agent.act(CALLER, 'uncordon');
    expect(sockets.size).toBe(1);
  });

  test('without an answer is to be asked again after 60 seconds', async () => {
    const clock = new VirtualClock();
    let arrived = (): void => undefined;
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    answer = () => arrived();
    const asked = client(clock).act(CALLER, 'cordonAndDrain');
    await inTime('the request', arrival);
    await clock.advance(60_000);
    expect(await asked).toMatchObject({ kind: 'again', message: expect.stringContaining('60000 ms') });
  });

  test('ends with its signal, and with the reason of that', async () => {
    const end = new AbortController();
    const reason = new Error('another step is wanted');
    answer = () => end.abort(reason);
    await expect(client().act(CALLER, 'cordonAndDrain', end.signal)).rejects.toBe(reason);
  });

  test('is understood by its status where the words are too many to read', async () => {
    answer = (response) => json(response, 504, { error: 'the drain did not end; '.repeat(100_000) });
    const deadline = await client().act(CALLER, 'cordonAndDrain');
    expect(deadline).toMatchObject({
      kind: 'deadline',
      message: expect.stringMatching(/the drain did not end; and \d+ more$/),
    });
  });

  test('that no replica receives is to be asked again', async () => {
    const gone = client();
    server.close();
    expect(await gone.act(CALLER, 'uncordon')).toEqual({ kind: 'again', message: 'ECONNREFUSED' });
    await rm(join(folder, 'token'));
    expect(await gone.act(CALLER, 'uncordon')).toEqual({ kind: 'again', message: 'ENOENT' });
  });
});

describe('an answer', () => {
  test.each([
    [204, '', { kind: 'ok' }],
    [409, '{"error":"look again","reason":"Conflict"}', { kind: 'refused', message: '409: look again' }],
    [401, '', { kind: 'unauthorized', message: '401: no reason given' }],
    [403, '{"error":"another node"}', { kind: 'unauthorized', message: '403: another node' }],
    [502, '{"error":"denied","reason":"StatusRefused"}', { kind: 'rejected', message: '502: denied' }],
    [400, '{"error":"reason: got X","reason":"InvalidStatus"}', { kind: 'rejected' }],
    [502, '{"error":"denied","reason":"KubernetesRefused"}', { kind: 'failed' }],
    [503, '{"error":"superseded"}', { kind: 'again', message: '503: superseded' }],
    [504, '{"error":"pod a/b is left"}', { kind: 'deadline', message: '504: pod a/b is left' }],
    [500, 'plain words, as the older implementation has them', { kind: 'failed' }],
    [502, '{"error":7}', { kind: 'failed', message: '502: {"error":7}' }],
  ])('%d %s', (status, body, expected) => {
    expect(classify({ status, body })).toMatchObject(expected);
  });
});
