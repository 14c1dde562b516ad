import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { BusyError, apiStatusError, isDefinite, UnreachableError } from '../../runtime/kube/errors.ts';
import { httpsTransport } from '../../runtime/kube/https.ts';
import type { KubeRequest, KubeTransport, KubeWatch, WatchEvent } from '../../runtime/kube/transport.ts';
import { askingAgain } from '../../runtime/kube/asking-again.ts';
import { evictionPort } from '../../runtime/kube/evictions.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { serve, server, transportTo } from './scripted.ts';
import { json } from './tls-server.ts';

const NODE = { method: 'PATCH', path: '/api/v1/nodes/n1', body: { metadata: { labels: { a: 'b' } } } } as const;
const POD = { method: 'PATCH', path: '/api/v1/namespaces/default/pods/p1', body: {} } as const;
const TOO_MANY = { code: 429, reason: 'TooManyRequests' };
const TURNED_AWAY = 'Too many requests, please try again later.\n';
/** With `--shutdown-send-retry-after`. */
const SHUTTING_DOWN = 'The apiserver is shutting down, please try again later.';

/** A transport whose first answers are these, and what is asked of it when. */
function failing(...errors: readonly Error[]) {
  return failingOf({}, ...errors);
}

/** The same, of a process that does nothing but drain, or has little time, where it says so. */
function failingOf(options: { readonly drains?: boolean; readonly timeoutMs?: number }, ...errors: readonly Error[]) {
  const clock = new VirtualClock();
  const began = clock.monotonic();
  const asked: number[] = [];
  const left = [...errors];
  const meet = (): void => {
    asked.push(clock.monotonic() - began);
    const error = left.shift();
    if (error) throw error;
  };
  const inner: KubeTransport = {
    request: async () => meet(),
    async *watch({ onOpen }: KubeWatch): AsyncGenerator<WatchEvent> {
      meet();
      onOpen?.();
      yield { type: 'BOOKMARK', object: {} };
    },
  };
  return { clock, asked, transport: askingAgain(inner, { clock, random: () => 0.5, ...options }) };
}

const busy = (retryAfterSeconds = 1): Error =>
  apiStatusError('PATCH /x', { ...TOO_MANY, details: { retryAfterSeconds } });
const unsent = (): Error =>
  new UnreachableError('x', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) });
const reset = (): Error => new UnreachableError('x', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) });

async function outcomeOf(transport: KubeTransport, request: KubeRequest, clock: VirtualClock): Promise<unknown> {
  const outcome = transport.request(request).then(
    () => 'done',
    (error: unknown) => error,
  );
  await clock.advance(60_000);
  return outcome;
}

describe('what was certainly not carried out', () => {
  test('is asked for again when the API server said, that request alone', async () => {
    const { transport, clock, asked } = failing(busy(), busy(3));
    expect(await outcomeOf(transport, POD, clock)).toBe('done');
    expect(asked).toEqual([0, 1100, 4400]);
  });

  test('is asked for again soon where nobody listens', async () => {
    const { transport, clock, asked } = failing(unsent(), unsent());
    expect(await outcomeOf(transport, POD, clock)).toBe('done');
    expect(asked).toEqual([0, 275, 825]);
  });

  test('comes behind what cordons a node or gives it back, and that behind the Lease', async () => {
    const first = async (request: KubeRequest, drains = false): Promise<number | undefined> => {
      const { transport, clock, asked } = failingOf({ drains }, busy());
      await outcomeOf(transport, request, clock);
      return asked[1];
    };
    const lease = { method: 'PUT', path: '/apis/coordination.k8s.io/v1/namespaces/a/leases/b', body: {} } as const;
    expect([await first(lease), await first(NODE), await first(POD, true), await first(POD)]).toEqual([
      500, 700, 700, 1100,
    ]);
  });

  test('is given up after ten seconds, and sooner where the sender has less time', async () => {
    const always = Array.from({ length: 100 }, () => busy());
    const patient = failing(...always);
    expect(await outcomeOf(patient.transport, POD, patient.clock)).toBeInstanceOf(BusyError);
    expect(patient.asked.at(-1)).toBe(9900);
    const hasty = failing(...always);
    expect(await outcomeOf(hasty.transport, { ...POD, timeoutMs: 2500 }, hasty.clock)).toBeInstanceOf(BusyError);
    expect(hasty.asked).toEqual([0, 1100, 2200]);
    const brief = failingOf({ timeoutMs: 2500 }, ...always);
    expect(await outcomeOf(brief.transport, POD, brief.clock)).toBeInstanceOf(BusyError);
    expect(brief.asked).toEqual([0, 1100, 2200]);
  });

  test('is not asked for again by a sender that no longer wants it', async () => {
    const { transport, clock, asked } = failing(busy());
    const cancel = new AbortController();
    const outcome = transport.request({ ...NODE, signal: cancel.signal }).catch((error: unknown) => error);
    await clock.advance(500);
    cancel.abort(new Error('enough'));
    await clock.advance(5000);
    expect(await outcome).toBeInstanceOf(BusyError);
    expect(asked).toEqual([0]);
  });

  test('a watch that did not begin is opened then', async () => {
    const { transport, clock, asked } = failing(busy());
    const events: WatchEvent[] = [];
    const reading = (async () => {
      for await (const event of transport.watch({ path: '/api/v1/nodes' })) events.push(event);
    })();
    await clock.advance(2000);
    await reading;
    expect(events).toHaveLength(1);
    expect(asked).toEqual([0, 1100]);
  });
});

test.each([
  ['an outcome that is unknown', reset()],
  ['a budget', apiStatusError('POST /x', { ...TOO_MANY, details: { causes: [{ reason: 'DisruptionBudget' }] } })],
])('%s is no such thing, and is the answer', async (_, error) => {
  const { transport, clock, asked } = failing(error);
  expect(await outcomeOf(transport, NODE, clock)).toBe(error);
  expect(asked).toEqual([0]);
});

describe('a busy API server', () => {
  const status = { kind: 'Status', ...TOO_MANY, details: { retryAfterSeconds: 1 } };
  const patch = { ...NODE, timeoutMs: 900 };
  const DENIED = 'admission webhook "a.b" denied the request: wait';

  test.each([
    ['in the plain text of priority and fairness', TURNED_AWAY, { busy: true, definite: true }],
    ['in the plain text of one that shuts down', `${SHUTTING_DOWN}\n`, { busy: true, definite: true }],
    ['in a Status', JSON.stringify(status), { busy: true, definite: true }],
    ['and it is a proxy that says so', '<html>slow down</html>', { busy: false, definite: false }],
    ['and it is a webhook', JSON.stringify({ ...status, message: DENIED }), { busy: false, definite: true }],
  ])('says so %s', async (_, body, expected) => {
    const transport = await transportTo((__, response) => response.writeHead(429, { 'retry-after': '1' }).end(body));
    const error = await transport.request(patch).catch((caught: unknown) => caught);
    expect({ busy: error instanceof BusyError, definite: isDefinite(error) }).toEqual(expected);
    expect(error).toMatchObject({ status: { code: 429, details: { retryAfterSeconds: 1 } } });
  });

  test('gets the same write again, body and all', async () => {
    let turnedAway = 0;
    const transport = await transportTo((_, response) => {
      if (turnedAway++ === 0) response.writeHead(429).end(TURNED_AWAY);
      else json(response, 200, { ok: true });
    });
    await expect(transport.request(NODE)).resolves.toEqual({ ok: true });
    expect(server.seen.map(({ body }) => body)).toEqual([JSON.stringify(NODE.body), JSON.stringify(NODE.body)]);
  });

  test('is waited for where it restarts: nobody listened, so nothing was sent', async () => {
    const scripted = await serve((_, response) => json(response, 200, { ok: true }));
    const before = scripted.access();
    const url = before.server;
    scripted.server.close();
    await once(scripted.server, 'close');
    let tries = 0;
    const access = {
      server: url,
      credentials: async () => {
        if (tries++ === 1) await once(scripted.server.listen(Number(new URL(url).port), '127.0.0.1'), 'listening');
        return before.credentials();
      },
    };
    await expect(httpsTransport(access, { userAgent: 'test' }).request(NODE)).resolves.toEqual({ ok: true });
    expect(tries).toBe(2);
  });

  test('as the embedded cluster is one: a share of everything, in plain text', async () => {
    const clock = new VirtualClock();
    const cluster = new EmbeddedCluster({ clock, random: () => 0.5 });
    const transport = cluster.transport(ADMIN);
    let n = 0;
    const verbs = ['get', 'list', 'create', 'patch', 'watch'];
    const over = cluster.disturb({ verbs, where: () => n++ % 2 === 0 }, { kind: 'busy' });
    const made = transport.request({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name: 'n1' } } });
    await clock.advance(2000);
    await expect(made).resolves.toMatchObject({ metadata: { name: 'n1' } });
    expect(cluster.audit.slice(-2).map(({ code }) => code)).toEqual([429, 201]);
    over();
  });

  test('leaves an eviction to the drain, which knows whether it is still wanted', async () => {
    const clock = new VirtualClock();
    const cluster = new EmbeddedCluster({ clock, random: () => 0.5 });
    cluster.disturb({ verbs: ['create'] }, { kind: 'busy' });
    const pod = { namespace: 'default', name: 'p1', uid: 'u' };
    await expect(evictionPort(cluster.transport(ADMIN)).evict(pod)).resolves.toEqual({
      kind: 'blocked',
      by: ['the Kubernetes API, which asks to wait'],
      isBusy: true,
      retryAfterMs: 1000,
    });
  });
});
