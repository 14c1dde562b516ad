import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request, type RequestOptions } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { readApiserverConfig } from '../../runtime/apiserver/config.ts';
import { PATHS } from '../../runtime/api/agent/protocol.ts';
import { PUBLIC_PATHS } from '../../runtime/apiserver/config.ts';
import { runApiserver } from '../../runtime/apiserver/run.ts';
import { type Clock, systemClock } from '../../runtime/lib/clock.ts';
import { createLogger } from '../../runtime/lib/log.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { ADMIN } from '../../lab/sim/cluster/cluster.ts';
import { serveCluster } from '../../lab/sim/cluster/https.ts';
import { createCa } from '../../lab/sim/cluster/pki.ts';
import { eventually } from '../contract/eventually.ts';
import { find, manifests } from '../infra/manifests.ts';
import { inTime } from '../in-time.ts';
import { addAccounts, addAgentPod, projectedToken } from './agents.ts';
import { withFiles } from './https-world.ts';
import { until } from './until.ts';
import { World } from './world.ts';
import { freePorts } from '../../lab/sim/world/ports.ts';

const SERVER = 'a.svc';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const REFUSED = { code: 'ECONNREFUSED' };
const ca = await createCa(systemClock);

/** Ends what a test has begun, also where it fails. */
const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end().catch(() => undefined);
});

interface Running {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** Runs the process until the test is over, or stops it, with a pod's files in `dir` and its server's certificate in `dir` as well. */
async function running(dir: string, env: Readonly<Record<string, string>>): Promise<Running> {
  await putCertificate(dir);
  const { listening, ended, stop } = launch({ ...env, TLS_DIR: dir, SERVICE_ACCOUNT_DIR: dir, HTTP_PORT: '0' });
  return { port: (await Promise.race([listening, ended])) as number, stop };
}

async function putCertificate(dir: string): Promise<void> {
  const { certPem, keyPem } = await ca.issue({ commonName: 'a', dnsNames: [SERVER] });
  const files = { 'tls.crt': certPem, 'tls.key': keyPem };
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
}

interface Launched extends Pick<Running, 'stop'> {
  /** The port of the API, once it listens. */
  readonly listening: Promise<number>;
  readonly ended: Promise<void>;
  /** Asks it to end. */
  readonly terminate: () => void;
}

function launch(env: Readonly<Record<string, string>>, clock: Clock = systemClock): Launched {
  const listening = Promise.withResolvers<number>();
  const write = (line: string): void => {
    const { message, port } = JSON.parse(line) as { message: string; port: number };
    if (message === 'listening') listening.resolve(port);
  };
  const logger = createLogger({ format: 'json', ansi: false, level: 'info', clock, write });
  const over = new AbortController();
  const context = { signal: over.signal, logger, clock, random: Math.random };
  const ended = runApiserver(readApiserverConfig({ APISERVER_INTERNAL_PORT: '0', ...env }), context);
  let hasEnded = false;
  const note = (): void => void (hasEnded = true);
  ended.then(note, note);
  const terminate = (): void => over.abort();
  const stop = async (): Promise<void> => {
    terminate();
    if (clock instanceof VirtualClock) await until(clock, async () => hasEnded, 100);
    return ended;
  };
  ends.push(stop);
  return { listening: listening.promise, ended, terminate, stop };
}

function toServer(port: number): RequestOptions {
  return { host: '127.0.0.1', port, servername: SERVER, ca: ca.certPem, agent: false };
}

interface Ask {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask(port: number, call: Ask): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    request({ ...toServer(port), ...call }, (incoming) => {
      let body = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      incoming.on('end', () => resolve({ status: incoming.statusCode, body }));
    })
      .on('error', reject)
      .end();
  });
}

test('the process serves with the certificate of its folder, and ends when it is asked to', async () => {
  await withFiles({ 'ca.crt': ca.certPem, token: 't', namespace: 'ns' }, async (dir) => {
    const { port, stop } = await running(dir, { KUBERNETES_SERVICE_HOST: '127.0.0.1' });
    expect(await ask(port, { method: 'GET', path: '/ping' })).toMatchObject({ status: 200 });
    await stop();
  });
});

test('the process is ready from when it has a certificate until that is over, and says so on its plain port', async () => {
  await withFiles({ 'ca.crt': ca.certPem, token: 't', namespace: 'ns' }, async (dir) => {
    const [HTTP_PORT = ''] = (await freePorts(1)).map(String);
    const get = async (path: string): Promise<string> => {
      const answer = await fetch(`http://127.0.0.1:${HTTP_PORT}${path}`);
      return `${answer.status} ${await answer.text()}`;
    };
    // An hour before the end of certificates that are issued now.
    const clock = new VirtualClock(systemClock.now() + 90 * DAY_MS - HOUR_MS);
    const files = { TLS_DIR: dir, SERVICE_ACCOUNT_DIR: dir };
    const { stop } = launch({ ...files, KUBERNETES_SERVICE_HOST: '127.0.0.1', HTTP_PORT }, clock);
    await eventually(async () => expect(await get('/readyz')).toMatch(/^503 /));
    expect(await get('/healthz')).toMatch(/^200 /);
    await putCertificate(dir);
    await eventually(async () => {
      await clock.advance(5_000);
      expect(await get('/readyz')).toMatch(/^200 /);
    });
    expect(await get('/metrics')).toMatch(/^brupop_apiserver_certificate_expiry_timestamp_seconds \d{10}$/m);
    await clock.advance(HOUR_MS);
    expect(await get('/readyz')).toMatch(/^503 /);
    await stop();
  });
});

describe('a process that is asked to end', () => {
  test('is not ready, serves for three seconds more, and is over within the grace of its pod', async () => {
    await endedInTime(async ({ port, ready, clock, terminate }) => {
      const ping = () => ask(port, { method: 'GET', path: PUBLIC_PATHS.ping });
      expect(await ready()).toBe(200);
      terminate();
      expect([await ready(), (await ping()).status]).toEqual([503, 200]);
      await clock.advance(2_900);
      expect((await ping()).status).toBe(200);
    });
  });

  test('cuts off a request that does not end, within the grace of its pod', async () => {
    const cut = Promise.withResolvers<Error>();
    await endedInTime(async ({ port, terminate }) => {
      const headers = { 'Content-Length': 100, Expect: '100-continue' };
      const unfinished = request({ ...toServer(port), method: 'POST', path: PUBLIC_PATHS.crdConvert, headers });
      unfinished.on('error', cut.resolve).write('{');
      await inTime('leave to send the body', once(unfinished, 'continue'));
      terminate();
    });
    expect(await inTime('the end of the connection', cut.promise)).toMatchObject({ code: 'ECONNRESET' });
  });
});

/** Runs the process on virtual time, and until it ends once `what` has asked it to. */
async function endedInTime(
  what: (process: {
    readonly port: number;
    readonly clock: VirtualClock;
    /** Status of its readiness. */
    readonly ready: () => Promise<number>;
    readonly terminate: () => void;
  }) => Promise<void>,
): Promise<void> {
  await withFiles({ 'ca.crt': ca.certPem, token: 't', namespace: 'ns' }, async (dir) => {
    const [HTTP_PORT = ''] = (await freePorts(1)).map(String);
    const clock = new VirtualClock(systemClock.now());
    await putCertificate(dir);
    const files = { TLS_DIR: dir, SERVICE_ACCOUNT_DIR: dir };
    const { listening, terminate, stop } = launch({ ...files, KUBERNETES_SERVICE_HOST: '127.0.0.1', HTTP_PORT }, clock);
    const port = await inTime('the port', listening);
    const ready = async (): Promise<number> => (await fetch(`http://127.0.0.1:${HTTP_PORT}/readyz`)).status;
    const asked = clock.monotonic();
    await what({ port, clock, ready, terminate });
    await stop();
    await expect(ask(port, { method: 'GET', path: PUBLIC_PATHS.ping })).rejects.toMatchObject(REFUSED);
    const { spec } = find(manifests(), 'Deployment', 'brupop-apiserver')['spec'].template;
    expect(clock.monotonic() - asked).toBeLessThan(spec.terminationGracePeriodSeconds * 1000);
  });
}

describe('a process that is asked to end in the middle of a drain', () => {
  test('tells those who wait for it to ask again', async () => {
    await draining(async ({ world, answer, stop }) => {
      await eventually(async () => expect(await terminating(world)).toEqual(['web-1']));
      const [reply] = await Promise.allSettled([answer, stop()]);
      // A drain that went on would keep this process alive.
      await world.endPod('web-1');
      expect(reply).toMatchObject({ value: { status: 503, body: expect.stringContaining('ShuttingDown') } });
    });
  });

  test('lets the evictions that it has asked for be answered, and asks for no more', async () => {
    const held = Promise.withResolvers<void>();
    const order: string[] = [];
    const hold = async (path: string): Promise<void> => {
      if (!path.endsWith('/eviction')) return;
      order.push('asked');
      await held.promise;
      order.push('answered');
    };
    await draining(async ({ port, answer, stop }) => {
      await eventually(async () => expect(order).toEqual(['asked']));
      const ended = stop().then(() => order.push('ended'));
      expect(await answer).toMatchObject({ status: 503 });
      await eventually(() =>
        expect(ask(port, { method: 'GET', path: PUBLIC_PATHS.ping })).rejects.toMatchObject(REFUSED),
      );
      held.resolve();
      await ended;
      expect(order).toEqual(['asked', 'answered', 'ended']);
    }, hold);
  });
});

interface Draining {
  readonly world: World;
  readonly port: number;
  /** To the agent who asked for the drain of a node with the pod web-1. */
  readonly answer: ReturnType<typeof ask>;
  readonly stop: () => Promise<void>;
}

/** @param before seen by each request of the process to the Kubernetes API, which waits for it */
async function draining(
  what: (draining: Draining) => Promise<void>,
  before: (path: string) => Promise<void> = async () => undefined,
): Promise<void> {
  const world = await World.create();
  await addAccounts(world);
  await addAgentPod(world, 'agent-1');
  await world.addPod('web-1');
  const { cluster } = world;
  const served = await serveCluster({
    authenticateToken: (token) => cluster.authenticateToken(token),
    handle: async (asked, user) => {
      await before(asked.path);
      return cluster.handle(asked, user);
    },
  });
  ends.push(() => served.close());
  const { hostname: KUBERNETES_SERVICE_HOST, port: KUBERNETES_SERVICE_PORT } = new URL(served.url);
  const { users } = JSON.parse(served.kubeconfig(ADMIN)) as { users: [{ user: { token: string } }] };
  const files = { 'ca.crt': served.caPem, token: users[0].user.token, namespace: NAMESPACE };
  await withFiles(files, async (dir) => {
    const { port, stop } = await running(dir, { KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT });
    const { nodeName, nodeUid } = await world.agent();
    const token = await projectedToken(world);
    const headers = { BrupopNodeName: nodeName, BrupopNodeUid: nodeUid, BrupopK8sAuthToken: token };
    const answer = ask(port, { method: 'POST', path: PATHS.cordonAndDrain, headers });
    await what({ world, port, answer, stop });
  });
}

async function terminating(world: World): Promise<string[]> {
  return (await world.pods()).filter((pod) => pod.metadata.deletionTimestamp).map((pod) => pod.metadata.name);
}

test.each(['kubernetes.example.com', '127.0.0.1', '::1'])(
  'it listens on every address of the pod, though the API server is called %s',
  async (KUBERNETES_SERVICE_HOST) => {
    await withFiles({ 'ca.crt': ca.certPem, token: 't', namespace: 'ns' }, async (dir) => {
      const [http = 0] = await freePorts(1);
      await putCertificate(dir);
      const env = { TLS_DIR: dir, SERVICE_ACCOUNT_DIR: dir, HTTP_PORT: String(http), KUBERNETES_SERVICE_HOST };
      const { listening, ended } = launch(env);
      const port = (await Promise.race([listening, ended])) as number;
      for (const host of ['127.0.0.1', '::1'])
        for (const one of [http, port]) {
          const socket = connect({ host, port: one });
          await once(socket, 'connect');
          socket.destroy();
        }
    });
  },
);
