import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { COMPONENTS, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { applyAll } from '../sim/world/manifests.ts';
import { eventually } from '../../test/contract/eventually.ts';
import { certificatesIssued } from '../../test/e2e/cert-manager.ts';
import { invariants } from '../../test/e2e/invariants.ts';
import { kubectl } from '../../test/e2e/kubectl.ts';
import { atRest, verdict } from '../../test/e2e/looks.ts';
import { operatorPods } from '../../test/e2e/operator.ts';
import { installPacked } from '../../test/packed/installed.ts';
import { importImages, operatorImage } from './images.ts';
import { prometheusArchive } from './parts/images.ts';
import { ClusterStage } from './stage.ts';
import { nodeTools } from './tools.ts';
import { servedWorkload } from './workload.ts';

/** The packed package in a cdk8s app of somebody else's, with the sample Prometheus, and a node that is lost. */

const NODES = 3;
const LOST = 'node-2';
/** Seconds. A node that comes back is there well within it, also where many boot at once. */
const RETURN_TIMEOUT = 90;
const APP = `import { App } from 'cdk8s';
import { BrupopChart, PrometheusSample } from 'cdk8s-brupop';

const app = new App();
const chart = new BrupopChart(app, 'updates', {
  controller: { maxConcurrentUpdate: 2, nodeReturnTimeoutInSec: ${RETURN_TIMEOUT} },
});
new PrometheusSample(chart, 'Prometheus', { brupop: chart.brupop, interval: '5s' });
app.synth();
`;

let stage: ClusterStage;

beforeAll(async () => {
  stage = await ClusterStage.set({ faults: new Map([[LOST, 'no-return']]) });
  const build = { env: process.env, progress: () => undefined };
  const operator = await operatorImage(stage.cluster.dir);
  const images = { archives: [await prometheusArchive(build)], operator, ctr: (await nodeTools(build)).ctr };
  for (const node of stage.fleet.nodes.values()) await importImages(node, images);
  await applyAll(stage.cluster.transport, servedWorkload(NODES, operator.name));
}, 400_000);

afterAll(() => stage.strike(), 60_000);

test('what the app synthesises goes into the cluster as it is, and rolls over every node but the lost one', async () => {
  const app = join(await realpath(stage.cluster.dir), 'app');
  await mkdir(app);
  installPacked(app);
  await writeFile(join(app, 'main.mjs'), APP);
  await promisify(execFile)(process.execPath, ['main.mjs'], { cwd: app });
  const { stderr } = await kubectl('apply', '-f', join(app, 'dist'));
  expect(stderr).toBe('');
  await certificatesIssued();
  stage.watch();
  await stage.until(
    (history) =>
      atRest(history, stage.options.to).length === NODES - 1 && verdict(history, LOST)?.reason === 'NotReturned',
  );
  expect(await invariants(stage, { concurrency: 2 })).toEqual([]);
}, 600_000);

test('the sample Prometheus scrapes each pod of the controller and the apiserver', async () => {
  // A pod that the last drain has moved is scraped a moment later.
  await eventually(async () => {
    const names = [COMPONENTS.apiserver, COMPONENTS.controller]
      .flatMap((component) => operatorPods(stage, component))
      .map(({ metadata }) => metadata.name);
    const { activeTargets } = await prometheus<{ activeTargets: readonly Target[] }>('targets');
    const scraped = activeTargets.map(({ labels, health, lastError }) => [labels['pod'], health, lastError]);
    expect(new Set(scraped)).toEqual(new Set(names.map((name) => [name, 'up', ''])));
    const { result } = await prometheus<{ result: readonly { value: readonly [number, string] }[] }>('query?query=up');
    expect(result.map(({ value }) => value[1])).toEqual(names.map(() => '1'));
  });
});

test('its alerts are evaluated without an error, and one says that the node has not returned', async () => {
  // A leader whose own node was rebooted since counts the return from when it has first looked: until then it says that the update is late.
  await eventually(async () => expect(await firing()).toEqual(['BrupopNodeNotReturned']), 2 * RETURN_TIMEOUT * 1000);
  const { groups } = await prometheus<{ groups: readonly { rules: readonly Rule[] }[] }>('rules');
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(5);
  expect(rules.filter(({ health, lastError }) => health !== 'ok' || lastError)).toEqual([]);
}, 300_000);

interface Target {
  readonly labels: Readonly<Record<string, string>>;
  readonly health: string;
  readonly lastError: string;
}

interface Rule {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
}

async function firing(): Promise<readonly string[]> {
  interface Alert {
    readonly labels: Readonly<Record<string, string>>;
    readonly state: string;
  }
  const { alerts } = await prometheus<{ alerts: readonly Alert[] }>('alerts');
  return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels['alertname'] ?? '');
}

/** What Prometheus' HTTP API answers through its Service. */
async function prometheus<T>(path: string): Promise<T> {
  const address = ['get', 'service', 'brupop-prometheus', '-n', NAMESPACE, '-o', 'jsonpath={.spec.clusterIP}'];
  const { stdout: host } = await kubectl(...address);
  const answer = await fetch(`http://${host}:9090/api/v1/${path}`);
  const { data } = (await answer.json()) as { data: T };
  return data;
}
