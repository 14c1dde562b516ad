import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bridge } from './bridge.ts';
import { binaries, certManagerCrds } from './build.ts';
import { HELP, parseCommand } from './options.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const progress = (line: string): void => void process.stderr.write(`${line}\n`);

/** `npm run controlplane`: from the arguments to the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const command = parseCommand(args);
  if (command.kind === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  if (command.kind === 'unknown') {
    process.stderr.write(`${command.fault}\n`);
    return 2;
  }
  // Here and not inside, where there is no network to fetch modules from.
  const { kubectl } = await binaries({ env: process.env, progress });
  await certManagerCrds({ env: process.env });
  if (command.kind === 'build') {
    process.stdout.write(`${kubectl}\n`);
    return 0;
  }
  return command.kind === 'exec' ? runInside([command.program, ...command.args]) : startInside();
}

/** Starts the control plane for people: its kubeconfig works from every shell of this machine. */
async function startInside(): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'brupop-bridge-'));
  const socket = join(dir, 'api.sock');
  const server = await bridge({ port: 0, host: '127.0.0.1' }, { path: socket });
  const { port } = server.address() as AddressInfo;
  try {
    return await runInside([], { BRIDGE_SOCKET: socket, BRIDGE_PORT: String(port) });
  } finally {
    server.close();
    await rm(dir, { recursive: true, force: true });
  }
}

/** The fourth channel's end tells the inner process to stop, also when this one was killed. */
async function runInside(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<number> {
  const inner = spawn(here('isolated'), [process.execPath, here('inside.ts'), ...args], {
    env: { ...process.env, ...env },
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
  });
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => inner.stdio[3]?.destroy());
  const [code] = (await once(inner, 'exit')) as [number | null];
  return code ?? 1;
}

process.exitCode = await main(process.argv.slice(2));
