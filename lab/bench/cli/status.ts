import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ADMIN } from '../../sim/cluster/cluster.ts';
import { serveCluster } from '../../sim/cluster/https.ts';
import { deployContainer } from '../../../test/cli/deployed.ts';
import type { Bench, Figure } from '../bench.ts';
import { largeFleet } from '../fleet.ts';

const SIZES = [1000, 2000];
/** As of a managed node group, with images and what agents annotate. */
const NODE_BYTES = 16 * 1024;
const RUNS = 5;

export const cliStatus: Bench = {
  name: 'cli-status',
  what: 'kubectl brupop status as people start it, over HTTPS on loopback: 1,000 and 2,000 nodes of 16 KiB, half of them behind',
  async run(context) {
    const all: Figure[] = [];
    for (const nodes of SIZES) all.push(...(await measured(nodes, context)));
    return all;
  },
};

async function measured(nodes: number, context: Parameters<Bench['run']>[0]): Promise<readonly Figure[]> {
  context.progress(`builds a fleet of ${nodes}`);
  const stage = await largeFleet({ nodes, nodeBytes: NODE_BYTES, behind: nodes / 2 });
  await deployContainer(stage, { name: 'brupop', image: 'x', env: [] });
  const served = await serveCluster(stage.cluster);
  const relay = await Relay.to(Number(new URL(served.url).port));
  const dir = await mkdtemp(join(tmpdir(), 'brupop-bench-'));
  try {
    const kubeconfig = join(dir, 'config');
    await writeFile(kubeconfig, served.kubeconfig(ADMIN).replace(served.url, relay.url));
    const npm = [process.execPath, '--import', TELLS_MEMORY, join(context.root, 'build', 'kubectl-brupop.mjs')];
    const executable = join(context.root, 'build', 'executables', 'kubectl-brupop');
    context.progress('starts it again and again');
    return [
      ...(await figures(`${nodes} nodes with npm`, npm, { kubeconfig, relay })),
      ...(existsSync(executable)
        ? await figures(`${nodes} nodes as one executable`, [executable], { kubeconfig, relay })
        : []),
    ];
  } finally {
    relay.close();
    await served.close();
    await stage.end();
    await rm(dir, { recursive: true, force: true });
  }
}

/** Writes the largest resident set, in KiB, to the end of the error output. */
const TELLS_MEMORY =
  'data:text/javascript,process.on("exit",()=>process.stderr.write(`maxrss ${process.resourceUsage().maxRSS}`))';

/** Counts what the API server sends. */
class Relay {
  readonly #server: Server;
  bytes = 0;

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const upstream = connect(port, '127.0.0.1');
      upstream.on('data', (chunk: Buffer) => (this.bytes += chunk.length));
      client.pipe(upstream).pipe(client);
      for (const end of [client, upstream]) end.on('error', () => undefined);
    });
  }

  static async to(port: number): Promise<Relay> {
    const relay = new Relay(port);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
  }
}

async function figures(
  how: string,
  command: readonly string[],
  { kubeconfig, relay }: { readonly kubeconfig: string; readonly relay: Relay },
): Promise<readonly Figure[]> {
  const started = await taken([...command, '--version'], kubeconfig);
  const before = relay.bytes;
  const said = await taken([...command, 'status'], kubeconfig);
  const megabytes = (relay.bytes - before) / (RUNS + 1) / 1e6;
  const wall = said.map(({ wallMs }) => wallMs);
  return [
    { name: `--version, ${how}, median of ${RUNS}`, value: medianOf(started.map(({ wallMs }) => wallMs)), unit: 'ms' },
    { name: `status, ${how}, median of ${RUNS}`, value: medianOf(wall), unit: 'ms' },
    { name: `status, ${how}, longest`, value: Math.max(...wall), unit: 'ms' },
    { name: `status, ${how}, processor time`, value: medianOf(said.map(({ cpuMs }) => cpuMs)), unit: 'ms' },
    { name: `status, ${how}, over the wire`, value: megabytes, unit: 'MB' },
    {
      name: `status, ${how}, resident at most`,
      value: Math.max(...said.map(({ residentMb }) => residentMb)),
      unit: 'MB',
    },
  ];
}

interface Taken {
  /** From exec to exit. */
  readonly wallMs: number;
  readonly cpuMs: number;
  /** 0 where it does not tell. */
  readonly residentMb: number;
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
  const { stdout, stderr } = await promisify(execFile)('/bin/sh', ['-c', script, 'sh', ...command], {
    env: { KUBECONFIG: kubeconfig },
  });
  const wallMs = performance.now() - begun;
  const [, children = ''] = stdout.split('\n');
  const used = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
  );
  const residentMb = Number(/maxrss (\d+)/.exec(stderr)?.[1] ?? 0) / 1000;
  return { wallMs, residentMb, cpuMs: 1000 * used.reduce((sum, seconds) => sum + seconds, 0) };
}

const medianOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
