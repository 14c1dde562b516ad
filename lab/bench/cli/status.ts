import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ADMIN } from '../../sim/cluster/cluster.ts';
import { serveCluster } from '../../sim/cluster/https.ts';
import { deployContainer } from '../../../test/cli/deployed.ts';
import type { Bench, Figure } from '../bench.ts';
import { largeFleet } from '../fleet.ts';

const NODES = 1000;
/** As of a managed node group, with images and what agents annotate. */
const NODE_BYTES = 16 * 1024;
const RUNS = 11;

export const cliStatus: Bench = {
  name: 'cli-status',
  what: 'kubectl brupop status as people start it, over HTTPS on loopback: 1,000 nodes of 16 KiB, half of them behind',
  async run(context) {
    context.progress('builds the fleet');
    const stage = await largeFleet({ nodes: NODES, nodeBytes: NODE_BYTES, behind: NODES / 2 });
    await deployContainer(stage, { name: 'brupop', image: 'x', env: [] });
    const served = await serveCluster(stage.cluster);
    const dir = await mkdtemp(join(tmpdir(), 'brupop-bench-'));
    try {
      const kubeconfig = join(dir, 'config');
      await writeFile(kubeconfig, served.kubeconfig(ADMIN));
      const npm = [process.execPath, join(context.root, 'build', 'kubectl-brupop.mjs')];
      const executable = join(context.root, 'build', 'executables', 'kubectl-brupop');
      context.progress('starts it again and again');
      return [
        ...(await figures('with npm', npm, kubeconfig)),
        ...(existsSync(executable) ? await figures('as one executable', [executable], kubeconfig) : []),
      ];
    } finally {
      await served.close();
      await stage.end();
      await rm(dir, { recursive: true, force: true });
    }
  },
};

async function figures(how: string, command: readonly string[], kubeconfig: string): Promise<readonly Figure[]> {
  const started = await taken([...command, '--version'], kubeconfig);
  const said = await taken([...command, 'status'], kubeconfig);
  const wall = said.map(({ wallMs }) => wallMs);
  return [
    { name: `--version ${how}, median of ${RUNS}`, value: medianOf(started.map(({ wallMs }) => wallMs)), unit: 'ms' },
    { name: `status ${how}, median of ${RUNS}`, value: medianOf(wall), unit: 'ms', atMost: 1000 },
    { name: `status ${how}, longest`, value: Math.max(...wall), unit: 'ms' },
    { name: `status ${how}, processor time`, value: medianOf(said.map(({ cpuMs }) => cpuMs)), unit: 'ms' },
  ];
}

interface Taken {
  /** From exec to exit. */
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** The first of all is not counted: the program is read from the disk. */
async function taken(command: readonly string[], kubeconfig: string): Promise<readonly Taken[]> {
  const all: Taken[] = [];
  for (let index = 0; index <= RUNS; index++) all.push(await run(command, kubeconfig));
  return all.slice(1);
}

/** The shell tells what its children have used. @throws Error where the program fails */
async function run(command: readonly string[], kubeconfig: string): Promise<Taken> {
  const begun = performance.now();
  const script = '"$@" >/dev/null || exit 1; times';
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script, 'sh', ...command], {
    env: { KUBECONFIG: kubeconfig },
  });
  const wallMs = performance.now() - begun;
  const [, children = ''] = stdout.split('\n');
  const used = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
  );
  return { wallMs, cpuMs: 1000 * used.reduce((sum, seconds) => sum + seconds, 0) };
}

const medianOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
