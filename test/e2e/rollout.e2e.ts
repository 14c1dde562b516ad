import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { httpsTransport } from '../../runtime/kube/https.ts';
import { kubeconfigAccess } from '../../runtime/kube/kubeconfig.ts';
import type { KubeList, KubeObject, Node } from '../../runtime/kube/objects.ts';
import { collectionPath } from '../../runtime/kube/paths.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { COMPONENTS, GROUP, NAMESPACE, PLURAL } from '../../runtime/shadow/names.ts';
import { versionOfOsImage } from '../../runtime/shadow/semver.ts';
import type { SimOptions } from '../../sim/options.ts';
import { outcomeOf } from '../../sim/view/outcome.ts';
import { Recorder } from '../../sim/view/recorder.ts';
import { applyAll } from '../../sim/world/manifests.ts';
import { observe } from '../../sim/world/observer.ts';
import { workload } from '../../sim/world/workload.ts';
import { eventually } from '../contract/eventually.ts';
import { mostMarked, nodeWrites, readAudit, stillCordoned } from './audit.ts';
import { certificatesIssued, installCertManagerCrds, startCertManager } from './cert-manager.ts';
import { binaries } from './controlplane/build.ts';
import type { Daemon } from './controlplane/daemon.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { kubectl } from './kubectl.ts';
import { watchShutdowns } from './shutdowns.ts';
import { steady } from './steady.ts';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const OPTIONS: SimOptions = {
  nodes: 5,
  concurrency: '1',
  from: '1.38.0',
  to: '1.39.0',
  speed: 10,
  faults: new Map(),
  keep: false,
};

const { KUBECONFIG: kubeconfig = '', CONTROLPLANE_DIR: dir = '' } = process.env;
let transport: KubeTransport;
let certManager: readonly Daemon[];
let fleet: Fleet | undefined;

beforeAll(async () => {
  const { access } = await kubeconfigAccess(kubeconfig);
  transport = steady(httpsTransport(access, { userAgent: 'e2e' }));
  await installCertManagerCrds();
  // A dry run makes none for the rest to be in.
  await kubectl('create', 'namespace', NAMESPACE, '--save-config');
  certManager = startCertManager(await binaries({ env: process.env, progress: () => undefined }), kubeconfig, dir);
}, 60_000);

afterAll(async () => {
  await fleet?.stop();
  await Promise.all(certManager.map((daemon) => daemon.stop('SIGKILL')));
}, 60_000);

test('the API server takes every manifest without an error and without a warning', async () => {
  const { stdout, stderr } = await kubectl('apply', '--dry-run=server', '--validate=strict', '-f', DIST);
  expect(stderr).toBe('');
  expect(
    stdout
      .trim()
      .split('\n')
      .every((line) => line.endsWith('(server dry run)')),
  ).toBe(true);
});

test('cert-manager issues every certificate, and the injector gives the CRD the authority that signed them', async () => {
  await kubectl('apply', '-f', DIST);
  await certificatesIssued();
}, 90_000);

test('five nodes roll over one at a time, each empty when it goes down, though controller and apiserver are killed meanwhile', async () => {
  await applyAll(transport, workload(OPTIONS));
  const { access } = await kubeconfigAccess(kubeconfig);
  const { tls } = await access.credentials();
  const api = { port: Number(new URL(access.server).port), caPem: String(tls.ca) };
  fleet = await startFleet({ options: OPTIONS, transport, api });
  const shutdowns = watchShutdowns(fleet, transport);
  await eventually(() => kubectl('cordon', 'node-5'));
  const killed = killWhileDown(fleet, { 'node-2': COMPONENTS.controller, 'node-3': COMPONENTS.apiserver });

  const nodes = await rolledOver(fleet);
  const alive = await shutdowns.stop();
  const writes = nodeWrites(await readAudit(join(dir, 'audit.log')));
  const ours = writes.filter(({ metadata }) => metadata.name !== 'node-5');
  const theirs = writes.filter(({ metadata }) => metadata.name === 'node-5');
  const cordoned = theirs.findIndex(({ spec }) => spec?.unschedulable);

  expect(nodes.map(({ status }) => versionOfOsImage(status?.nodeInfo?.osImage))).toEqual(Array(5).fill(OPTIONS.to));
  expect(alive.map(({ pods }) => pods)).toEqual([[], [], [], [], []]);
  expect(new Set(alive.map(({ node }) => node)).size).toBe(5);
  expect(killed.length).toBeGreaterThanOrEqual(2);
  expect(mostMarked(writes)).toBe(1);
  expect(ours.some(({ spec }) => spec?.unschedulable)).toBe(true);
  expect(stillCordoned(ours)).toEqual([]);
  // An administrator's cordon is never taken away.
  expect(theirs.slice(cordoned).every(({ spec }) => spec?.unschedulable)).toBe(true);
}, 240_000);

test('who still reads v1 is answered through the conversion webhook, under the certificate that cert-manager issued', async () => {
  const path = collectionPath({ group: GROUP, version: 'v1', plural: PLURAL, namespace: NAMESPACE });
  const { items } = JSON.parse((await kubectl('get', '--raw', path)).stdout) as KubeList<KubeObject>;
  expect(items.map(({ apiVersion }) => apiVersion)).toEqual(Array(5).fill(`${GROUP}/v1`));
});

/** Ends every process of a component, as `kill -9`, when the node's host goes down for its reboot. Their process ids, as it happens. */
function killWhileDown({ nodes, pods }: Fleet, victims: Readonly<Record<string, string>>): readonly number[] {
  const killed: number[] = [];
  for (const [node, component] of Object.entries(victims)) {
    const onDown = (): void => {
      for (const pid of pods.pids(component)) {
        process.kill(pid, 'SIGKILL');
        killed.push(pid);
      }
    };
    nodes.get(node)?.host.observe({ onDown });
  }
  return killed;
}

/** The nodes when nothing more will happen to them, by the cluster's watch streams. */
async function rolledOver({ failed }: Fleet): Promise<readonly Node[]> {
  const recorder = new Recorder();
  const over = Promise.withResolvers<void>();
  const watching = new AbortController();
  const onChange = (): void => {
    if (recorder.nodes.size === OPTIONS.nodes && outcomeOf(recorder, OPTIONS.to) === 'over') over.resolve();
  };
  const observed = observe({ transport, clock: systemClock, recorder, onChange }, watching.signal);
  try {
    await Promise.race([over.promise, failed, observed]);
    return [...recorder.nodes.values()];
  } finally {
    watching.abort(new Error('seen'));
  }
}
