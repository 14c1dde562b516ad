import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isReady, type Lease, type Node, type Pod } from '../../runtime/kube/objects.ts';
import type { KubeRequest, KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { TERMINATION_ANNOTATION } from '../../lab/sim/kubernetes/kubelet/node-pods.ts';
import { eventually } from '../contract/eventually.ts';
import { auditOf } from './audit.ts';
import { type RealCluster, realCluster } from './cluster.ts';
import { comesTrue } from './come-true.ts';
import { History } from './history.ts';
import { kubectl } from './kubectl.ts';
import { nodeTransport } from './node-identity.ts';
import { PaperNode } from './paper-node.ts';

const PODS = '/api/v1/namespaces/default/pods';
const NODES = ['node-1', 'node-2'] as const;

let cluster: RealCluster;
const identities = new Map<string, KubeTransport>();
const machines = new Map<string, PaperNode>();
const history = new History();
const watching = new AbortController();
let watched: Promise<void>;

beforeAll(async () => {
  cluster = await realCluster();
  watched = history.run(cluster.transport, watching.signal);
  for (const name of NODES) {
    const transport = await nodeTransport(cluster, name);
    identities.set(name, transport);
    const api = { transport, clock: systemClock, random: Math.random };
    machines.set(name, new PaperNode({ name, api }));
    await machines.get(name)?.boot({ osImage: 'Bottlerocket OS 1.38.0', bootID: 'boot-1' });
  }
});

afterAll(async () => {
  watching.abort(new Error('the test is over'));
  await watched;
});

interface Given {
  readonly nodeName?: string;
  readonly graceSeconds?: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Resolves when it runs. */
async function addPod(
  name: string,
  { nodeName = 'node-1', graceSeconds = 30, annotations }: Given = {},
): Promise<void> {
  const volumes = [
    { name: 'token', projected: { sources: [{ serviceAccountToken: { audience: 'its-own', path: 'token' } }] } },
    { name: 'secret', secret: { secretName: `of-${name}` } },
  ];
  const containers = [{ name: 'main', image: 'example.com/main:1' }];
  const spec = { nodeName, terminationGracePeriodSeconds: graceSeconds, containers, volumes };
  const body = { metadata: { name, ...(annotations && { annotations }) }, spec };
  await eventually(() => cluster.transport.request({ method: 'POST', path: PODS, body }));
  await history.until(() => runs(podOf(name)));
}

function podOf(name: string): Pod | undefined {
  return history.pods.get(`default/${name}`);
}

function runs(pod: Pod | undefined): boolean {
  return pod !== undefined && isReady(pod);
}

/** Seconds from the request to delete it until it is gone. */
async function secondsToEnd(name: string, ...more: readonly string[]): Promise<number> {
  const began = performance.now();
  await kubectl('delete', 'pod', name, '--wait=false', ...more);
  await history.until(() => podOf(name) === undefined);
  return (performance.now() - began) / 1000;
}

describe('a node on paper', () => {
  test('is Ready, and its lease is renewed', async () => {
    expect(history.nodes.get('node-1')?.status).toMatchObject({
      nodeInfo: { bootID: 'boot-1', osImage: 'Bottlerocket OS 1.38.0' },
    });
    const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1';
    const renewed = async (): Promise<string> =>
      ((await cluster.transport.request({ method: 'GET', path })) as Lease).spec?.renewTime ?? '';
    const first = await renewed();
    await comesTrue(async () => (await renewed()) !== first);
  });

  test('tells of a boot with its first Ready, and is not Ready before', async () => {
    await machines.get('node-2')?.shutdown();
    await machines.get('node-2')?.boot({ osImage: 'Bottlerocket OS 1.39.0', bootID: 'boot-2' });
    await history.until(({ nodes }) => nodes.get('node-2')?.status?.nodeInfo?.bootID === 'boot-2');
    const sightings = history.sightings.filter(({ object }) => object.metadata.name === 'node-2');
    const seen = sightings.map(({ object }) => inWords(object as Node));
    const changes = seen.filter((words, index) => words !== seen[index - 1]);
    expect(changes.slice(-3)).toEqual(['1.38.0 boot-1 True', '1.38.0 boot-1 Unknown', '1.39.0 boot-2 True']);
  });
});

function inWords({ status }: Node): string {
  const { osImage = '', bootID } = status?.nodeInfo ?? {};
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return `${osImage.split(' ').at(-1)} ${bootID} ${ready}`;
}

describe('a pod on paper', () => {
  test('uses all of its grace', async () => {
    await addPod('slow', { graceSeconds: 4 });
    // The time by which it is to be gone is given in whole seconds.
    expect(await secondsToEnd('slow')).toBeGreaterThanOrEqual(3);
  });

  test('ends when its annotation says', async () => {
    await addPod('prompt', { annotations: { [TERMINATION_ANNOTATION]: '1.5' } });
    const seconds = await secondsToEnd('prompt');
    expect(seconds).toBeGreaterThanOrEqual(1.5);
    expect(seconds).toBeLessThan(10);
  });

  test('whose annotation is longer than its grace has its grace', async () => {
    await addPod('late', { graceSeconds: 1, annotations: { [TERMINATION_ANNOTATION]: '60' } });
    expect(await secondsToEnd('late')).toBeLessThan(10);
  });

  test('is gone at once by force', async () => {
    await addPod('forced');
    expect(await secondsToEnd('forced', '--grace-period=0', '--force')).toBeLessThan(10);
  });

  test('of a machine that is off ends when that is on again', async () => {
    await addPod('held', { nodeName: 'node-2', annotations: { [TERMINATION_ANNOTATION]: '0' } });
    await machines.get('node-2')?.shutdown();
    await kubectl('delete', 'pod', 'held', '--wait=false');
    await addPod('other', { annotations: { [TERMINATION_ANNOTATION]: '1' } });
    await secondsToEnd('other');
    expect(podOf('held')?.metadata.deletionTimestamp).toBeDefined();
    await machines.get('node-2')?.boot({ osImage: 'Bottlerocket OS 1.39.0', bootID: 'boot-3' });
    await history.until(() => podOf('held') === undefined);
  });

  test('that was told not to be Ready, as those of a node that is lost, starts again and counts that', async () => {
    await addPod('again');
    const conditions = [{ type: 'Ready', status: 'False' }];
    const patch = JSON.stringify({ status: { conditions } });
    await kubectl('patch', 'pod', 'again', '--subresource=status', '--type=strategic', '-p', patch);
    const pod = await history.until(() => {
      const found: Pod | undefined = podOf('again');
      return found?.status?.containerStatuses?.[0]?.restartCount === 1 && found;
    });
    expect(runs(pod)).toBe(true);
  });
});

describe('a kubelet', () => {
  /** Code of the API server's answer to node-1. */
  async function codeFor(method: KubeRequest['method'], path: string, body?: object): Promise<number> {
    const contentType = 'application/merge-patch+json' as const;
    const request = { method, path, ...(body && { body }), ...(method === 'PATCH' && { contentType }) } as const;
    try {
      await identities.get('node-1')?.request(request);
      return 200;
    } catch (error) {
      return (error as { status: { code: number } }).status.code;
    }
  }

  const tokenFor = (pod: Pod | undefined, audience: string): object => ({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      audiences: [audience],
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod?.metadata.name, uid: pod?.metadata.uid },
    },
  });
  const TOKENS = '/api/v1/namespaces/default/serviceaccounts/default/token';

  beforeAll(async () => {
    await addPod('own');
    await addPod('foreign', { nodeName: 'node-2' });
    for (const name of ['of-own', 'of-foreign']) await kubectl('create', 'secret', 'generic', name);
  });

  test('gets tokens for its own pods only, and for the audiences that these name', async () => {
    await eventually(async () => expect(await codeFor('POST', TOKENS, tokenFor(podOf('own'), 'its-own'))).toBe(200));
    expect(await codeFor('POST', TOKENS, tokenFor(podOf('own'), 'another'))).toBe(403);
    expect(await codeFor('POST', TOKENS, tokenFor(podOf('foreign'), 'its-own'))).toBe(403);
  });

  test('reads the Secrets of its own pods only', async () => {
    await eventually(async () => expect(await codeFor('GET', '/api/v1/namespaces/default/secrets/of-own')).toBe(200));
    expect(await codeFor('GET', '/api/v1/namespaces/default/secrets/of-foreign')).toBe(403);
  });

  test('sees, tells of and removes its own pods only', async () => {
    const status = { status: { message: 'by node-1' } };
    expect(await codeFor('GET', PODS)).toBe(403);
    expect(await codeFor('PATCH', `${PODS}/own/status`, status)).toBe(200);
    expect(await codeFor('PATCH', `${PODS}/foreign/status`, status)).toBe(403);
    expect(await codeFor('DELETE', `${PODS}/foreign`)).toBe(403);
    expect(await codeFor('DELETE', `${PODS}/own`, { gracePeriodSeconds: 0 })).toBe(200);
  });

  test('writes no other Node', async () => {
    const body = { metadata: { annotations: { 'example.com/by': 'node-1' } } };
    expect(await codeFor('PATCH', '/api/v1/nodes/node-1', body)).toBe(200);
    expect(await codeFor('PATCH', '/api/v1/nodes/node-2', body)).toBe(403);
    expect(await codeFor('PATCH', '/api/v1/nodes/node-2/status', { status: {} })).toBe(403);
  });

  test('is on record under its own name, with what was refused to it', async () => {
    const asked = (await auditOf(cluster)).filter(({ user }) => user?.username === 'system:node:node-1');
    const words = asked.map(({ verb, objectRef, responseStatus }) =>
      [verb, objectRef?.resource, objectRef?.subresource, responseStatus?.code].filter(Boolean).join(' '),
    );
    expect(words).toEqual(
      expect.arrayContaining(['create serviceaccounts token 201', 'create serviceaccounts token 403']),
    );
    expect(words).toEqual(expect.arrayContaining(['get secrets 200', 'get secrets 403', 'patch nodes status 403']));
  });
});
