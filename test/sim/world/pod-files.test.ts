import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ForbiddenError } from '../../../runtime/kube/errors.ts';
import type { Pod } from '../../../runtime/kube/objects.ts';
import type { KubeRequest, KubeTransport } from '../../../runtime/kube/transport.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import { VirtualClock } from '../../../sim/clock.ts';
import { mountPodFiles, type PodFilesOptions, type PodTemplate, writePodFiles } from '../../../sim/world/pod-files.ts';

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const SPEC: PodTemplate = {
  containers: [
    {
      name: 'apiserver',
      volumeMounts: [
        { name: 'tls', mountPath: '/etc/brupop-tls-keys' },
        { name: 'kube-api-access', mountPath: ACCOUNT },
      ],
    },
  ],
  volumes: [
    { name: 'tls', secret: { secretName: 'certificate' } },
    {
      name: 'kube-api-access',
      projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3607 } }] },
    },
  ],
};
const POD = { metadata: { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '1' }, spec: SPEC } as unknown as Pod;

let root: string;
let clock: VirtualClock;
let secret: string;
/** Of the tokens that were asked for, seconds. */
let lives: number[];
let options: PodFilesOptions;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'brupop-pod-files-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  clock = new VirtualClock();
  secret = 'one';
  lives = [];
  const transport = {
    request: async ({ method, body }: KubeRequest) => (method === 'GET' ? secretNow() : tokenNow(body)),
  };
  const dir = await mkdtemp(join(root, 'p'));
  options = { transport: transport as unknown as KubeTransport, clock, caPem: 'CA', dir, hostFiles: {} };
});

function secretNow(): object {
  return { data: { 'tls.crt': Buffer.from(secret).toString('base64') } };
}

function tokenNow(body: unknown): object {
  lives.push((body as { spec: { expirationSeconds: number } }).spec.expirationSeconds);
  const iat = clock.now() / 1000;
  return { status: { token: `h.${Buffer.from(JSON.stringify({ iat, exp: iat + 100 })).toString('base64url')}.s` } };
}

test('a pod finds its service account whole, though a real API server adds a volume for it', async () => {
  const { serviceAccountDir } = await writePodFiles(POD, options);
  const read = (name: string): Promise<string> => readFile(join(serviceAccountDir, name), 'utf8');
  expect([await read('ca.crt'), await read('namespace')]).toEqual(['CA', 'ns']);
  expect(await read('token')).toMatch(/^h\./);
  expect(lives).toEqual([3607]);
});

test('a refresh brings what the Secret is now, and the next token once it is due', async () => {
  const { serviceAccountDir, mounts, refresh } = await writePodFiles(POD, options);
  const token = (): Promise<string> => readFile(join(serviceAccountDir, 'token'), 'utf8');
  const first = await token();

  secret = 'two';
  await refresh();
  expect(await readFile(join(mounts['/etc/brupop-tls-keys'] ?? '', 'tls.crt'), 'utf8')).toBe('two');
  expect(await token()).toBe(first);

  await clock.advance(80_000);
  await refresh();
  expect(await token()).not.toBe(first);
});

/** A transport that refuses so many requests first, and a clock on which nobody waits. */
function refusing(times: number): {
  readonly options: PodFilesOptions & { readonly clock: Clock };
  readonly slept: () => number;
} {
  let [left, slept] = [times, 0];
  const transport = {
    request: async (request: KubeRequest) => {
      if (left-- > 0) throw new ForbiddenError('GET', { code: 403 });
      return options.transport.request(request);
    },
  } as unknown as KubeTransport;
  const sleep = async (ms: number): Promise<void> => void (slept += ms);
  const now = (): number => clock.now();
  return { options: { ...options, transport, clock: { now, monotonic: now, sleep } }, slept: () => slept };
}

test('what the API server refuses a node at first is asked for again', async () => {
  const { options: parts, slept } = refusing(2);
  const { serviceAccountDir } = await mountPodFiles(POD, parts);
  expect(await readFile(join(serviceAccountDir, 'token'), 'utf8')).toMatch(/^h\./);
  expect(slept()).toBe(500);
});

test('what it goes on refusing is a failure after ten seconds', async () => {
  const { options: parts, slept } = refusing(Infinity);
  await expect(mountPodFiles(POD, parts)).rejects.toThrow('403');
  expect(slept()).toBe(9750);
});
