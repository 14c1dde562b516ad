import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN } from '../../sim/cluster/cluster.ts';
import { serveCluster } from '../../sim/cluster/https.ts';
import { deployContainer } from '../../test/cli/deployed.ts';
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
  const started = await times(() => run([...command, '--version'], kubeconfig));
  const said = await times(() => run([...command, 'status'], kubeconfig));
  return [
    { name: `--version ${how}, median of ${RUNS}`, value: medianOf(started), unit: 'ms' },
    { name: `status of 1,000 nodes ${how}, median of ${RUNS}`, value: medianOf(said), unit: 'ms', atMost: 1000 },
    { name: `status of 1,000 nodes ${how}, longest`, value: Math.max(...said), unit: 'ms' },
  ];
}

/** The first of all is not counted: the program is read from the disk. */
async function times(work: () => Promise<void>): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let index = 0; index <= RUNS; index++) {
    const begun = performance.now();
    await work();
    taken.push(performance.now() - begun);
  }
  return taken.slice(1);
}

/** From exec to exit. @throws Error where it fails */
async function run([file = '', ...args]: readonly string[], kubeconfig: string): Promise<void> {
  const child = spawn(file, args, { env: { KUBECONFIG: kubeconfig }, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
}

const medianOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
