import { beforeEach, expect, test } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { apiStatusError } from '../../../runtime/kube/errors.ts';
import type { Pod } from '../../../runtime/kube/objects.ts';
import type { KubeRequest, KubeTransport } from '../../../runtime/kube/transport.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import { VirtualClock } from '../../../sim/clock.ts';
import { mountPodFiles, type PodFiles, type PodFilesOptions, writePodFiles } from '../../../sim/world/pod-files.ts';
import type { PodTemplate, ProjectedSource, Volume } from '../../../sim/world/pod-template.ts';
import { folder } from '../../folder.ts';

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const ACCOUNT_SOURCES: readonly ProjectedSource[] = [
  { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
  { configMap: { name: 'root-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
];
const VOLUMES: readonly Volume[] = [
  { name: 'tls', secret: { secretName: 'certificate' } },
  { name: 'ca', secret: { secretName: 'certificate', items: [{ key: 'ca.crt', path: 'authority.crt' }] } },
  { name: 'wrong', secret: { secretName: 'certificate', items: [{ key: 'absent', path: 'absent' }] } },
  { name: 'account', projected: { sources: ACCOUNT_SOURCES } },
];

/** A pod whose container mounts these volumes, by path. */
function podWith(mounts: Readonly<Record<string, string>>): Pod {
  const volumeMounts = Object.entries(mounts).map(([mountPath, name]) => ({ name, mountPath }));
  const spec: PodTemplate = { containers: [{ name: 'apiserver', volumeMounts }], volumes: VOLUMES };
  return { metadata: { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '1' }, spec };
}

const POD = podWith({ '/etc/brupop-tls-keys': 'tls', [ACCOUNT]: 'account' });

let clock: VirtualClock;
let secret: string;
let options: PodFilesOptions;
let asked: KubeRequest[];
beforeEach(async () => {
  clock = new VirtualClock();
  secret = 'one';
  asked = [];
  const transport = {
    request: async (request: KubeRequest) => {
      asked.push(request);
      return ANSWERS[request.path.split('/').at(-2) ?? '']?.();
    },
  };
  options = { transport: transport as unknown as KubeTransport, clock, dir: folder, hostFiles: {} };
});

/** What is read, and the token of the account, by the kind of thing. */
const ANSWERS: Readonly<Record<string, () => object>> = {
  secrets: () => ({ data: { 'tls.crt': base64(secret), 'ca.crt': base64(`CA of ${secret}`) } }),
  configmaps: () => ({ data: { 'ca.crt': 'CA', 'more.crt': 'more' } }),
  default: () => {
    const iat = clock.now() / 1000;
    return { status: { token: `h.${Buffer.from(JSON.stringify({ iat, exp: iat + 100 })).toString('base64url')}.s` } };
  },
};

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** What a container reads of its files now. */
function fileOf({ mounts }: PodFiles, volume: string, name: string): Promise<string> {
  return readFile(join(mounts[volume] ?? '/nowhere', name), 'utf8');
}

async function namesIn({ mounts }: PodFiles, volume: string): Promise<readonly string[]> {
  const names = await readdir(mounts[volume] ?? '/nowhere');
  return names.filter((name) => !name.startsWith('..')).toSorted();
}

test('the service account is what its volume names, and no more', async () => {
  const files = await writePodFiles(POD, options);
  expect(await namesIn(files, ACCOUNT)).toEqual(['ca.crt', 'namespace', 'token']);
  expect(await fileOf(files, ACCOUNT, 'ca.crt')).toBe('CA');
  expect(await fileOf(files, ACCOUNT, 'namespace')).toBe('ns');
  expect(await fileOf(files, ACCOUNT, 'token')).toMatch(/^h\./);
});

test('a token lives as long as its volume says', async () => {
  await writePodFiles(POD, options);
  const bodies = asked.flatMap(({ body }) => (body ? [body as { spec: object }] : []));
  expect(bodies.map(({ spec }) => spec)).toMatchObject([{ expirationSeconds: 3607 }]);
});

test('a pod that mounts no service account has none', async () => {
  const { mounts } = await writePodFiles(podWith({ '/etc/brupop-tls-keys': 'tls' }), options);
  expect(Object.keys(mounts)).toEqual(['/etc/brupop-tls-keys']);
  expect(asked.map(({ method }) => method)).toEqual(['GET']);
});

test('of a Secret there are the keys that the volume names, as the files that it names', async () => {
  const files = await writePodFiles(podWith({ '/etc/ca': 'ca' }), options);
  expect(await namesIn(files, '/etc/ca')).toEqual(['authority.crt']);
  expect(await fileOf(files, '/etc/ca', 'authority.crt')).toBe('CA of one');
});

test('a key that the Secret lacks is a failure', async () => {
  await expect(writePodFiles(podWith({ '/etc/wrong': 'wrong' }), options)).rejects.toThrow(
    'secrets certificate has no key absent',
  );
});

test('a refresh brings what the Secret is now, and the next token once it is due', async () => {
  const files = await writePodFiles(POD, options);
  const { refresh } = files;
  const token = (): Promise<string> => fileOf(files, ACCOUNT, 'token');
  const first = await token();

  secret = 'two';
  await refresh();
  expect(await fileOf(files, '/etc/brupop-tls-keys', 'tls.crt')).toBe('two');
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
      if (left-- > 0) throw apiStatusError('GET', { code: 403 });
      return options.transport.request(request);
    },
  } as unknown as KubeTransport;
  const sleep = async (ms: number): Promise<void> => void (slept += ms);
  const now = (): number => clock.now();
  return { options: { ...options, transport, clock: { now, monotonic: now, sleep } }, slept: () => slept };
}

test('what the API server refuses a node at first is asked for again', async () => {
  const { options: parts, slept } = refusing(2);
  const files = await mountPodFiles(POD, parts);
  expect(await fileOf(files, ACCOUNT, 'token')).toMatch(/^h\./);
  expect(slept()).toBe(500);
});

test('what it goes on refusing is a failure after ten seconds', async () => {
  const { options: parts, slept } = refusing(Infinity);
  await expect(mountPodFiles(POD, parts)).rejects.toThrow('403');
  expect(slept()).toBe(9750);
});
