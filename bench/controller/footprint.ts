import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTROLLER_NODE_FLAGS } from '../../runtime/controller/config.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { NAMESPACE } from '../../runtime/shadow/names.ts';
import { ADMIN } from '../../sim/cluster/cluster.ts';
import { serveCluster, type ServedCluster } from '../../sim/cluster/https.ts';
import { Stage } from '../../test/controller/stage.ts';
import type { Bench } from '../bench.ts';
import { cpuSeconds, memoryMb } from '../process.ts';

const NODES = 10_000;
const NODE_BYTES = 16 * 1024;
/** Each kubelet posts its status every five minutes. */
const STATUSES_A_SECOND = NODES / 300;
const IDLE_SECONDS = 30;
const HTTP_PORT = 38_080;

export const controllerFootprint: Bench = {
  name: 'controller-footprint',
  what: 'the bundled controller over HTTPS: 10,000 nodes of 16 KiB at rest whose statuses say nothing new',
  async run(context) {
    context.progress('builds the fleet');
    const stage = await largeFleet();
    const served = await serveCluster(stage.cluster);
    const dir = await mkdtemp(join(tmpdir(), 'brupop-bench-'));
    const controller = await startController({ served, dir, root: context.root });
    context.progress('waits for its caches');
    try {
      await ready();
      await sleep(10_000);
      const before = await cpuSeconds(controller);
      context.progress('listens to statuses');
      await heartbeats(stage, IDLE_SECONDS);
      const cpu = (await cpuSeconds(controller)) - before;
      const memory = await memoryMb(controller);
      return [
        { name: 'memory with 10,000 nodes of 16 KiB, now', value: memory.now, unit: 'MB', atMost: 300 },
        { name: 'memory with 10,000 nodes of 16 KiB, at its highest', value: memory.highest, unit: 'MB', atMost: 300 },
        { name: 'CPU at 33 node statuses a second', value: (cpu / IDLE_SECONDS) * 100, unit: '% of a core', atMost: 5 },
      ];
    } finally {
      controller.kill('SIGKILL');
      await served.close();
      await rm(dir, { recursive: true, force: true });
    }
  },
};

async function largeFleet(): Promise<Stage> {
  const stage = await Stage.with();
  const annotations = { filler: 'x'.repeat(NODE_BYTES - 1024) };
  for (let index = 0; index < NODES; index++) {
    const name = `n${index}`;
    await stage.join(name);
    await stage.patch(`/api/v1/nodes/${name}`, { metadata: { annotations, labels: eksLabels(index) } });
    await stage.report(name, { current_version: '1.1.0', conditions: [CONDITION] });
  }
  return stage;
}

/** As many as a node of a managed node group has, and what teams add to them: 25 with the operator's own. */
function eksLabels(index: number): Readonly<Record<string, string>> {
  const zone = `eu-central-1${'abc'[index % 3]}`;
  const type = 'm5.2xlarge';
  return {
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/instance-type': type,
    'beta.kubernetes.io/os': 'linux',
    'eks.amazonaws.com/capacityType': 'ON_DEMAND',
    'eks.amazonaws.com/nodegroup': `workers-${index % 12}`,
    'eks.amazonaws.com/nodegroup-image': `ami-0c1d2e3f4a5b6c7d${index % 3}`,
    'eks.amazonaws.com/sourceLaunchTemplateId': `lt-0123456789abcde${index % 12}`,
    'eks.amazonaws.com/sourceLaunchTemplateVersion': '7',
    'failure-domain.beta.kubernetes.io/region': 'eu-central-1',
    'failure-domain.beta.kubernetes.io/zone': zone,
    'k8s.io/cloud-provider-aws': 'a1b2c3d4e5f60718293a4b5c6d7e8f90',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': `ip-10-${index >> 8}-${index & 255}-17.eu-central-1.compute.internal`,
    'kubernetes.io/os': 'linux',
    'node.kubernetes.io/instance-type': type,
    'topology.ebs.csi.aws.com/zone': zone,
    'topology.k8s.aws/zone-id': `euc1-az${1 + (index % 3)}`,
    'topology.kubernetes.io/region': 'eu-central-1',
    'topology.kubernetes.io/zone': zone,
    'example.com/team': `team-${index % 20}`,
    'example.com/environment': index % 4 ? 'production' : 'test',
    'example.com/cost-center': `cc-${index % 40}`,
    'example.com/rack': `rack-${index % 200}`,
    'example.com/pool': `pool-${index % 8}`,
  };
}

/** As the controller writes it, so that it has nothing left to write. */
const CONDITION = {
  type: 'UpToDate',
  status: 'True',
  reason: 'UpToDate',
  message: 'the node runs the newest version that it is offered',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;

interface Launch {
  readonly served: ServedCluster;
  readonly dir: string;
  readonly root: string;
}

async function startController({ served, dir, root }: Launch): Promise<ChildProcess> {
  const config = JSON.parse(served.kubeconfig(ADMIN)) as { users: { user: { token: string } }[] };
  const files = { token: config.users[0]?.user.token ?? '', 'ca.crt': served.caPem, namespace: NAMESPACE };
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  const { hostname, port } = new URL(served.url);
  const env = {
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    SERVICE_ACCOUNT_DIR: dir,
    MY_NODE_NAME: 'n0',
    HTTP_PORT: String(HTTP_PORT),
  };
  return spawn(process.execPath, [...CONTROLLER_NODE_FLAGS, join(root, 'build', 'controller.mjs')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function ready(): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    const answer = await fetch(`http://127.0.0.1:${HTTP_PORT}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(500);
  }
  throw new Error('the controller did not become ready');
}

async function heartbeats(stage: Stage, seconds: number): Promise<void> {
  for (let beat = 0; beat < seconds * STATUSES_A_SECOND; beat++) {
    const condition = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const lastHeartbeatTime = new Date(systemClock.now()).toISOString();
    const conditions = [{ ...condition, lastHeartbeatTime }];
    await stage.patch(`/api/v1/nodes/n${beat % NODES}/status`, { status: { conditions } });
    await sleep(1000 / STATUSES_A_SECOND);
  }
}
