import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import type { Lease, Pod } from '../../runtime/kube/objects.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { COMPONENTS, CONTROLLER_LEASE, GROUP, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { Recorder } from '../sim/view/recorder.ts';
import { summarise } from '../sim/view/summary.ts';
import { applyAll } from '../sim/world/manifests.ts';
import { observe } from '../sim/world/observer.ts';
import { WORKLOAD, WORKLOAD_NAMESPACE } from '../sim/world/workload.ts';
import { eventually } from '../../test/contract/eventually.ts';
import { auditOf } from '../../test/e2e/audit.ts';
import { invariants } from '../../test/e2e/invariants.ts';
import { kubectl, shadowsAsV1 } from '../../test/e2e/kubectl.ts';
import { startLoad } from '../../test/e2e/load.ts';
import { operatorPods, operatorRuns } from '../../test/e2e/operator.ts';
import { Plugin } from '../../test/e2e/plugin.ts';
import { containersOf, endsOf } from './containers.ts';
import { operatorImage } from './images.ts';
import { ClusterStage } from './stage.ts';
import { UsageMeter } from './usage.ts';
import { servedWorkload } from './workload.ts';

/** 10 times faster than life, unless this says otherwise: what it measures is stated for 1. */
const SPEED = Number(process.env['CLUSTER_SPEED'] ?? 10);
/** What the limit of each container says, bytes, by the beginnings of its pods' names. */
const LIMITS = { 'brupop-agent': 128, 'brupop-apiserver': 256, 'brupop-controller': 384 } as const;
const MIB = 1024 * 1024;

let stage: ClusterStage;
let meter: UsageMeter;
let load: ReturnType<typeof startLoad> | undefined;
const recorder = new Recorder();
const over = new AbortController();
const running: Promise<unknown>[] = [];

beforeAll(async () => {
  stage = await ClusterStage.set({ speed: SPEED });
  const { name } = await operatorImage(stage.cluster.dir);
  await applyAll(stage.cluster.transport, servedWorkload(stage.options.nodes, name));
  await kubectl('rollout', 'status', '-n', WORKLOAD_NAMESPACE, `deployment/${WORKLOAD}`, '--timeout=120s');
  const address = ['get', 'service', WORKLOAD, '-n', WORKLOAD_NAMESPACE, '-o', 'jsonpath={.spec.clusterIP}'];
  const { stdout: host } = await kubectl(...address);
  // kube-proxy hears of the pods a little later.
  await eventually(async () => expect(await ask(host)).toBeUndefined());
  // Before there is an operator: it begins with the first node as soon as it runs.
  load = startLoad(Array.from({ length: 4 }, () => () => ask(host)));
}, 400_000);

afterAll(async () => {
  over.abort(new Error('the test is over'));
  await Promise.allSettled([...running, load?.stop()]);
  await stage.strike();
});

test('the manifests as they are bring every part of the operator up, and each says so in its log', async () => {
  await stage.installOperator();
  const { transport } = stage.cluster;
  // Who asks for a kind that was defined a moment ago is refused.
  await eventually(() => kubectl('get', 'brs', '-A'));
  const { nodes, reboots } = stage.fleet;
  meter = new UsageMeter([...nodes.keys()], (name) => reboots.filter(({ node }) => node === name).length);
  running.push(
    meter.run(over.signal),
    observe({ transport, clock: systemClock, recorder, onChange: () => undefined }, over.signal),
  );
  await operatorRuns(stage);
  for (const { metadata } of operatorPods(stage)) {
    await eventually(async () => {
      const { stdout } = await kubectl('logs', '-n', NAMESPACE, metadata.name);
      expect(stdout).toContain(' started process=brupop-');
    });
  }
}, 200_000);

test('a client that reads v1 is answered through the conversion webhook, which the API server finds by its Service', async () => {
  await eventually(async () => {
    const shadows = await shadowsAsV1();
    expect(shadows.map(({ apiVersion }) => apiVersion)).toEqual(Array(stage.options.nodes).fill(`${GROUP}/v1`));
  });
});

test('while each node is drained and rebooted, no request to the workload through its Service fails', async () => {
  await stage.rolledOver();
  const { asked, faults } = await load!.stop();
  expect([...new Set(faults)]).toEqual([]);
  expect(asked).toBeGreaterThan(500);
}, 1_200_000);

test('every node ends up to date and in service, and the budget was kept', async () => {
  const evictions = (await auditOf(stage.cluster)).filter(
    ({ objectRef, responseStatus }) => objectRef?.subresource === 'eviction' && (responseStatus?.code ?? 500) < 300,
  );
  const { faults, lines } = summarise({ recorder, to: stage.options.to, evictions: evictions.length });
  process.stderr.write(`${lines.join('\n')}\n`);
  expect(faults).toEqual([]);
  expect(await invariants(stage)).toEqual([]);
});

test('logs and report have what the processes wrote', async () => {
  const { dir } = stage.cluster;
  const plugin = await Plugin.installed(dir);
  const logs = await plugin.run('logs', 'node-2', '--since', '1h');
  expect(logs).toMatchObject({ code: 0, err: '' });
  // The other pods were evicted meanwhile, with what they wrote of this node.
  expect(logs.out).toMatch(/^\S+Z {2}agent +\S/m);
  const times = logs.out.split('\n').flatMap((line) => /^\d{4}-\S+Z(?=  )/.exec(line) ?? []);
  expect(times).toEqual(times.toSorted());
  const file = join(dir, 'report.json');
  expect(await plugin.run('report', '-f', file)).toMatchObject({ code: 0, out: expect.stringContaining(file) });
  const { logs: reported } = JSON.parse(await readFile(file, 'utf8')) as { logs: { lines: readonly object[] } };
  expect(reported.lines.length).toBeGreaterThan(0);
});

test('the nodes of the controller and of apiservers were among them: another leader took over', async () => {
  const leaders = (await auditOf(stage.cluster))
    .filter(({ objectRef }) => objectRef?.resource === 'leases' && objectRef.name === CONTROLLER_LEASE)
    .flatMap(({ responseObject }) => (responseObject as Lease | undefined)?.spec?.holderIdentity || []);
  expect(new Set(leaders).size).toBeGreaterThan(1);
});

test('no agent was started again but by the reboot of its node, and no container was killed for want of memory', async () => {
  for (const pod of operatorPods(stage, COMPONENTS.agent)) {
    const reboots = stage.fleet.reboots.filter(({ node }) => node === pod.spec?.nodeName);
    expect(containersOf(pod).map(({ restartCount }) => restartCount)).toEqual([reboots.length]);
  }
  const ended = stage.history.sightings.flatMap(({ object }) => endsOf(object as Pod));
  expect(ended.filter((reason) => reason === 'OOMKilled')).toEqual([]);
});

test('each container stays within half of its memory', async () => {
  await meter.look();
  for (const [prefix, limit] of Object.entries(LIMITS)) {
    const { memory, cpuSeconds } = meter.of(prefix);
    const words = `${(memory / MIB).toFixed(0)} MiB of ${limit}, ${cpuSeconds.toFixed(1)} s of processor`;
    process.stderr.write(`${prefix}: ${words}\n`);
    expect(memory).toBeGreaterThan(0);
    expect(memory).toBeLessThan((limit / 2) * MIB);
  }
});

/** On a connection of its own, which may well go to another pod than the one before. */
function ask(host: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const request = get({ host, agent: false, timeout: 15_000 }, (response) => {
      response.resume();
      response.on('error', reject);
      response.on('end', () => resolve(response.statusCode === 200 ? undefined : String(response.statusCode)));
    });
    request.on('timeout', () => request.destroy(new Error('no answer within 15 s')));
    request.on('error', reject);
  });
}
