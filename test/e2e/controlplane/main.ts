import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { bridge } from './bridge.ts';
import { prepared } from './build.ts';
import { ownFolder } from './folder.ts';
import { HELP, parseCommand } from './options.ts';
import { runInside } from './outside.ts';
import { stopRequested } from './stopping.ts';

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
  const { kubectl } = await prepared({ env: process.env, progress });
  if (command.kind === 'build') {
    process.stdout.write(`${kubectl}\n`);
    return 0;
  }
  const stop = stopRequested(process.env);
  if (command.kind === 'start') return startInside(stop);
  return runInside([command.program, ...command.args], { env: process.env, stop });
}

/** Starts the control plane for people: its kubeconfig works from every shell of this machine. */
async function startInside(stop: AbortSignal): Promise<number> {
  const folder = await ownFolder('bridge');
  const socket = join(folder.dir, 'api.sock');
  const server = await bridge({ port: 0, host: '127.0.0.1' }, { path: socket });
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, BRIDGE_SOCKET: socket, BRIDGE_PORT: String(port) };
  try {
    return await runInside([], { env, stop });
  } finally {
    server.close();
    await folder.remove();
  }
}

process.exitCode = await main(process.argv.slice(2));
