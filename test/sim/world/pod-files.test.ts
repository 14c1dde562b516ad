import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pod } from '../../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import { VirtualClock } from '../../../sim/clock.ts';
import { type PodFilesOptions, type PodTemplate, writePodFiles } from '../../../sim/world/pod-files.ts';

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
    { name: 'kube-api-access', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
  ],
};
const POD = { metadata: { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '1' }, spec: SPEC } as unknown as Pod;

let root: string;
let clock: VirtualClock;
let secret: string;
let options: PodFilesOptions;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'brupop-pod-files-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  clock = new VirtualClock();
  secret = 'one';
  const transport = {
    request: async ({ method }: { method: string }) => (method === 'GET' ? secretNow() : tokenNow()),
  };
  const dir = await mkdtemp(join(root, 'p'));
  options = { transport: transport as unknown as KubeTransport, clock, caPem: 'CA', dir, hostFiles: {} };
});

function secretNow(): object {
  return { data: { 'tls.crt': Buffer.from(secret).toString('base64') } };
}

function tokenNow(): object {
  const iat = clock.now() / 1000;
  return { status: { token: `h.${Buffer.from(JSON.stringify({ iat, exp: iat + 100 })).toString('base64url')}.s` } };
}

test('a pod finds its service account whole, though a real API server adds a volume for it', async () => {
  const { serviceAccountDir } = await writePodFiles(POD, options);
  const read = (name: string): Promise<string> => readFile(join(serviceAccountDir, name), 'utf8');
  expect([await read('ca.crt'), await read('namespace')]).toEqual(['CA', 'ns']);
  expect(await read('token')).toMatch(/^h\./);
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
