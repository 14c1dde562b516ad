import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { Socket } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { programs } from './build.ts';
import { type ControlPlane, startControlPlane } from './controlplane.ts';
import { present } from './presented.ts';
import type { Binaries } from '../../../tools/go/build.ts';

/** For a program that is told to end. */
const GRACE_MS = 5000;

/** The half of `npm run lab -- controlplane` that runs in the namespaces: starts the control plane, runs the command, stops it. */
async function main([program, ...args]: readonly string[]): Promise<number> {
  const stop = stopSignal();
  const found = await programs({ env: process.env, progress: () => undefined });
  const kubeProxy = process.env['CONTROLPLANE_KUBE_PROXY'] !== undefined;
  const controlPlane = await startControlPlane({ binaries: found, clock: systemClock, kubeProxy });
  try {
    if (program !== undefined) {
      const code = await run([program, ...args], environment(controlPlane, found), stop);
      if (code !== 0) await keepLogs(controlPlane, process.env['CONTROLPLANE_LOGS']);
      return code;
    }
    const file = await present(controlPlane, process.env);
    process.stdout.write(`The control plane is ready; Ctrl-C ends it.\n\n  export KUBECONFIG=${file}\n`);
    if (!stop.aborted) await once(stop, 'abort');
    return 0;
  } finally {
    await controlPlane.stop();
  }
}

/** Copies what the control plane, its users, nodes and their pods wrote into files that end in `.log`; for who has to find out what went wrong. */
async function keepLogs({ dir }: ControlPlane, to: string | undefined): Promise<void> {
  if (to === undefined) return;
  for (const file of globSync('{audit.log,*/*.log,disks/*/var/log/{*,pods/*/*/*}.log}', { cwd: dir }))
    await cp(join(dir, file), join(to, file));
}

/** Aborts when the outer half ends or says so; a signal from the terminal reaches both and is left to it. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort());
  const channel = new Socket({ fd: 3 });
  channel.on('error', () => undefined);
  channel.on('close', () => stop.abort());
  channel.resume();
  channel.unref();
  return stop.signal;
}

function environment({ kubeconfig, dir, etcdUrl }: ControlPlane, { kubectl = '' }: Binaries): NodeJS.ProcessEnv {
  const PATH = [dirname(kubectl), process.env['PATH']].join(delimiter);
  const contract = { CONTRACT_KUBECONFIG: kubeconfig, CONTRACT_ETCD: etcdUrl };
  return { ...process.env, ...contract, PATH, KUBECONFIG: kubeconfig, CONTROLPLANE_DIR: dir };
}

async function run(
  [program = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  stop: AbortSignal,
): Promise<number> {
  const child = spawn(program, args, { env, stdio: 'inherit' });
  stop.addEventListener('abort', () => {
    child.kill('SIGTERM');
    // Nobody may be there to end what heeds no signal.
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

process.exitCode = await main(process.argv.slice(2));
