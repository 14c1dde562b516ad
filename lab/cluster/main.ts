import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { runInside } from '../../test/e2e/controlplane/outside.ts';
import { withBridge } from '../../test/e2e/controlplane/presented.ts';
import { stopRequested } from '../../test/e2e/controlplane/stopping.ts';
import { removeAbandoned } from './node/cgroups.ts';
import { HELP, parseCommand } from './options.ts';
import { BESIDE_NODES, preparedCluster } from './start.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** `npm run lab -- cluster`: from the arguments to the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const command = parseCommand(args);
  if (command.kind === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  if (command.kind === 'wrong') {
    process.stderr.write(`${command.fault}\n`);
    return 2;
  }
  await preparedCluster({ env: process.env, progress: (line) => void process.stderr.write(`${line}\n`) });
  if (command.kind === 'build') return 0;
  if ((await buildImage()) !== 0) return 1;
  const stop = stopRequested(process.env);
  const inside = [process.execPath, here('inside.ts'), ...args];
  try {
    return await withBridge((env) => runInside(inside, { env: { ...env, ...BESIDE_NODES }, stop }));
  } finally {
    await removeAbandoned();
  }
}

async function buildImage(): Promise<number> {
  const child = spawn(process.execPath, [here('../../tools/image/main.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
