import { beforeEach, expect, test } from '@jest/globals';
import { VirtualClock } from '../../../sim/clock.ts';
import type { Pod } from '../../../runtime/kube/objects.ts';
import type { KubeRequest, KubeTransport } from '../../../runtime/kube/transport.ts';
import { PodToken } from '../../../sim/world/pod-token.ts';

const POD = {
  metadata: { name: 'agent-x', namespace: 'ns', uid: 'uid-1', resourceVersion: '1' },
  spec: { serviceAccountName: 'agents' },
} as Pod;
const LIFE_MS = 3600 * 1000;

let clock: VirtualClock;
let asked: KubeRequest[];
let transport: KubeTransport;
beforeEach(() => {
  clock = new VirtualClock();
  asked = [];
  transport = {
    request: async (request) => {
      asked.push(request);
      const { expirationSeconds } = (request.body as { spec: { expirationSeconds: number } }).spec;
      return { status: { token: token(expirationSeconds) } };
    },
    watch: () => {
      throw new Error('nobody watches tokens');
    },
  };
});

/** A token that lives so many seconds from now on; the first number in it tells how many were made before. */
function token(seconds: number): string {
  const iat = Math.floor(clock.now() / 1000);
  const claims = Buffer.from(JSON.stringify({ iat, exp: iat + seconds })).toString('base64url');
  return `${asked.length}.${claims}.signature`;
}

test('a token is bound to its pod and for its audience', async () => {
  await new PodToken({ pod: POD, audience: 'brupop-apiserver' }, { transport, clock }).current();
  expect(asked).toMatchObject([
    {
      path: '/api/v1/namespaces/ns/serviceaccounts/agents/token',
      body: {
        spec: { audiences: ['brupop-apiserver'], boundObjectRef: { kind: 'Pod', name: 'agent-x', uid: 'uid-1' } },
      },
    },
  ]);
});

test('a token stays for four fifths of its life, then comes the next', async () => {
  const kept = new PodToken({ pod: POD }, { transport, clock });
  const first = await kept.current();
  await clock.advance(0.8 * LIFE_MS - 1);
  expect(await kept.current()).toBe(first);
  await clock.advance(1);
  expect(await kept.current()).not.toBe(first);
});

test('a token is asked for as long as its volume says, and renewed accordingly though the API server lets it live longer', async () => {
  const kept = new PodToken(
    { pod: POD, expirationSeconds: 1000 },
    { transport, clock, reissue: () => token(365 * 24 * 3600) },
  );
  const first = await kept.current();
  expect(asked).toMatchObject([{ body: { spec: { expirationSeconds: 1000 } } }]);
  await clock.advance(800_000);
  expect(await kept.current()).not.toBe(first);
});

test('what is made of a token counts, also for how long it is good', async () => {
  const kept = new PodToken({ pod: POD }, { transport, clock, reissue: () => token(20) });
  const first = await kept.current();
  await clock.advance(16_000);
  expect(await kept.current()).not.toBe(first);
});

test('where no token can be had, the next look asks again', async () => {
  let away = true;
  const flaky: KubeTransport = {
    ...transport,
    request: (request) => (away ? Promise.reject(new Error('away')) : transport.request(request)),
  };
  const kept = new PodToken({ pod: POD }, { transport: flaky, clock });
  await expect(kept.current()).rejects.toThrow('away');
  away = false;
  expect(await kept.current()).not.toBe('');
});
