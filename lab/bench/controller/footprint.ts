import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTROLLER_ALLOCATOR, CONTROLLER_NODE_FLAGS } from '../../../runtime/controller/config.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { ADMIN } from '../../sim/cluster/cluster.ts';
import { serveCluster, type ServedCluster } from '../../sim/cluster/https.ts';
import type { Stage } from '../../../test/controller/stage.ts';
import type { Bench } from '../bench.ts';
import { largeFleet } from '../fleet.ts';
import { MemoryCgroup } from '../cgroup.ts';
import { cpuSeconds, memoryMb } from '../process.ts';

const NODES = 10_000;
const NODE_BYTES = 16 * 1024;
/** Of the container, as its manifest says. */
const LIMIT_MIB = 384;
/** Resident memory may be so much of it. */
const MOST = { unit: 'MiB', atMost: 160 } as const;
/** Each kubelet posts its status every five minutes. */
const STATUSES_A_SECOND = NODES / 300;
const IDLE_SECONDS = 30;
const HTTP_PORT = 38_080;

export const controllerFootprint: Bench = {
  name: 'controller-footprint',
  what: 'the bundled controller over HTTPS: 10,000 nodes of 16 KiB at rest whose statuses say nothing new',
  async run(context) {
    context.progress('builds the fleet');
    const stage = await largeFleet({ nodes: NODES, nodeBytes: NODE_BYTES });
    const served = await serveCluster(stage.cluster);
    const dir = await mkdtemp(join(tmpdir(), 'brupop-bench-'));
    const cgroup = await MemoryCgroup.create(LIMIT_MIB);
    const controller = await startController({ served, dir, root: context.root, cgroup });
    context.progress('waits for its caches');
    try {
      await ready();
      await sleep(10_000);
      const before = await cpuSeconds(controller);
      context.progress('listens to statuses');
      await heartbeats(stage, IDLE_SECONDS);
      const cpu = (await cpuSeconds(controller)) - before;
      const memory = await memoryMb(controller);
      const { oomKills } = await cgroup.read();
      return [
        { name: 'memory with 10,000 nodes of 16 KiB, now', value: memory.now, ...MOST },
        { name: 'memory with 10,000 nodes of 16 KiB, at its highest', value: memory.highest, ...MOST },
        { name: 'killed for its memory', value: oomKills, unit: 'times', atMost: 0 },
        { name: 'CPU at 33 node statuses a second', value: (cpu / IDLE_SECONDS) * 100, unit: '% of a core', atMost: 5 },
      ];
    } finally {
      const ended = once(controller, 'exit');
      controller.kill('SIGKILL');
      await ended;
      await cgroup.remove();
      await served.close();
      await rm(dir, { recursive: true, force: true });
    }
  },
};

interface Launch {
  readonly served: ServedCluster;
  readonly dir: string;
  readonly root: string;
  readonly cgroup: MemoryCgroup;
}

async function startController({ served, dir, root, cgroup }: Launch): Promise<ChildProcess> {
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
    ...CONTROLLER_ALLOCATOR,
  };
  const program = [process.execPath, ...CONTROLLER_NODE_FLAGS, join(root, 'build', 'controller.mjs')];
  const enter = ['-c', 'echo $$ > "$0" && exec "$@"', cgroup.entrance];
  return spawn('/bin/sh', [...enter, ...program], { env, stdio: ['ignore', 'ignore', 'inherit'] });
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
