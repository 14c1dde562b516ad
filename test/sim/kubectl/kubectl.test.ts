import { execFile, spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../../lab/sim/cluster/cluster.ts';
import { type ServedCluster, serveCluster } from '../../../lab/sim/cluster/https.ts';
import { type Kubernetes, startKubernetes } from '../../../lab/sim/kubernetes/main.ts';
import { shared } from '../../folder.ts';
import { until } from '../../in-time.ts';

const missing = spawnSync('kubectl', ['version', '--client']).error !== undefined;
const when = missing ? describe.skip : describe;

const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.org' },
  spec: {
    group: 'example.org',
    scope: 'Namespaced',
    names: { kind: 'Thing', plural: 'things', singular: 'thing', shortNames: ['th'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer', description: 'How big it is.' } } },
              status: { type: 'object', properties: { state: { type: 'string' } } },
            },
          },
        },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'State', type: 'string', jsonPath: '.status.state' },
        ],
      },
    ],
  },
};
const thing = (size: unknown): object => ({
  apiVersion: 'example.org/v1',
  kind: 'Thing',
  metadata: { name: 'a' },
  spec: { size },
});
const selector = { matchLabels: { app: 'web' } };
const deployment = (replicas: number, ...images: readonly string[]): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector,
    template: {
      metadata: { labels: selector.matchLabels },
      spec: { containers: images.map((image) => ({ name: image, image })) },
    },
  },
});
const budget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web' },
  spec: { maxUnavailable: 1, selector },
};

interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

when(missing ? 'the real kubectl (skipped: none on the PATH)' : 'the real kubectl', () => {
  let served: ServedCluster;
  let kubernetes: Kubernetes;
  let cluster: EmbeddedCluster;
  const end = new AbortController();
  const env = (): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: shared,
    KUBECONFIG: join(shared, 'kubeconfig'),
  });

  beforeAll(async () => {
    cluster = new EmbeddedCluster({ clock: systemClock, random: Math.random });
    served = await serveCluster(cluster);
    await writeFile(join(shared, 'kubeconfig'), served.kubeconfig(ADMIN));
    const transport = cluster.transport(ADMIN);
    const quick = { startDelayMs: 10, terminationSeconds: 0.1 };
    kubernetes = startKubernetes({ transport, clock: systemClock, random: Math.random, signal: end.signal, ...quick });
    for (const name of ['n1', 'n2'])
      await kubernetes.kubelet(name).boot({ osImage: 'Bottlerocket OS 1.38.0', bootID: 'one' });
    await apply(CRD);
  });

  afterAll(async () => {
    end.abort(new Error('the tests are over'));
    await kubernetes.stopped;
    await served.close();
  });

  function run(args: string, stdin = ''): Promise<Answer> {
    return new Promise((resolve) => {
      const child = execFile('kubectl', args.split(' '), { env: env() }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
      );
      child.stdin?.end(stdin);
    });
  }

  /** Standard output of a kubectl that must succeed. */
  async function kubectl(args: string, stdin?: string): Promise<string> {
    const { code, stdout, stderr } = await run(args, stdin);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  }

  const apply = (object: object): Promise<string> => kubectl('apply -f -', JSON.stringify(object));
  /** Lines, with the columns that kubectl pads as lists. */
  const rows = (output: string): readonly (readonly string[])[] =>
    output
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(/ {2,}/));

  test('lists nodes as it does on any cluster', async () => {
    expect(rows(await kubectl('get nodes'))).toEqual([
      ['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION'],
      ['n1', 'Ready', '<none>', expect.stringMatching(/^\d+s$/), 'v1.33.0'],
      ['n2', 'Ready', '<none>', expect.stringMatching(/^\d+s$/), 'v1.33.0'],
    ]);
    expect(await kubectl('get nodes -o wide')).toContain('Bottlerocket OS 1.38.0');
    expect(JSON.parse(await kubectl('get node n1 -o json'))).toMatchObject({ kind: 'Node', metadata: { name: 'n1' } });
    expect(await kubectl('get node n1 -o yaml')).toContain('osImage: Bottlerocket OS 1.38.0');
  });

  test('finds resources by kind, short name and group', async () => {
    const listed = await kubectl('api-resources');
    expect(listed).toMatch(/^things\s+th\s+example\.org\/v1\s+true\s+Thing$/m);
    expect(listed).toMatch(/^poddisruptionbudgets\s+pdb\s+policy\/v1\s+true\s+PodDisruptionBudget$/m);
    expect(await kubectl('explain thing.spec.size')).toContain('How big it is.');
    const { stderr } = await run('get nonsense');
    expect(stderr).toContain(`the server doesn't have a resource type "nonsense"`);
  });

  test('applies a custom resource: created, unchanged, configured, shown by its columns, described, deleted', async () => {
    expect(await apply(thing(1))).toBe('thing.example.org/a created\n');
    expect(await apply(thing(1))).toBe('thing.example.org/a unchanged\n');
    expect(await apply(thing(2))).toBe('thing.example.org/a configured\n');
    await kubectl('patch th a --subresource status --type merge -p {"status":{"state":"Idle"}}');
    expect(rows(await kubectl('get th -A'))).toEqual([
      ['NAMESPACE', 'NAME', 'SIZE', 'STATE'],
      ['default', 'a', '2', 'Idle'],
    ]);
    expect(await kubectl('describe th a')).toMatch(/State:\s+Idle/);
    // Newer ones say the namespace too.
    expect(await kubectl('delete th a')).toMatch(/^thing\.example\.org "a" deleted(?: from default namespace)?\n$/);
    expect((await run('get th a')).stderr).toBe('Error from server (NotFound): things.example.org "a" not found\n');
  });

  test('watches: a row per change, with the columns of the first', async () => {
    const watch = spawn('kubectl', ['get', 'things', '-w', '--output-watch-events'], { env: env() });
    let seen = '';
    const shows = (line: RegExp): Promise<void> => until(String(line), () => line.test(seen));
    watch.stdout.on('data', (chunk: Buffer) => (seen += chunk.toString()));
    try {
      await apply(thing(1));
      await shows(/a +1/);
      await apply(thing(5));
      await shows(/a +5/);
      await kubectl('delete thing a');
      await shows(/DELETED +a +5/);
    } finally {
      watch.kill();
    }
    expect(rows(seen)[0]).toEqual(['EVENT', 'NAME', 'SIZE', 'STATE']);
  });

  test('rolls a deployment out, merging containers by name, and drains a node through evictions', async () => {
    await apply(budget);
    await apply(deployment(2, 'web', 'side'));
    await kubectl('rollout status deployment/web --timeout=10s');
    await apply(deployment(2, 'web'));
    await kubectl('rollout status deployment/web --timeout=10s');
    expect(await kubectl('get deploy web -o jsonpath={.spec.template.spec.containers[*].name}')).toBe('web');
    expect(await kubectl('drain n1 --timeout=15s')).toContain('node/n1 drained\n');
    expect(cluster.audit.some(({ subresource, code }) => subresource === 'eviction' && code === 201)).toBe(true);
    await kubectl('rollout status deployment/web --timeout=10s');
    expect(await kubectl('get pods -o jsonpath={.items[*].spec.nodeName}')).not.toContain('n1');
    await kubectl('uncordon n1');
    await kubectl('delete deployment,pdb web');
    await kubectl('wait --for=delete pod --all --timeout=10s');
  });
});
