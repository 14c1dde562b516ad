import { prepared } from './build.ts';
import { HELP, parseCommand } from './options.ts';
import { runInside } from './outside.ts';
import { withBridge } from './presented.ts';
import { stopRequested } from './stopping.ts';

const progress = (line: string): void => void process.stderr.write(`${line}\n`);

/** `npm run lab -- controlplane`: from the arguments to the exit code. */
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
  if (command.kind === 'start') return withBridge((env) => runInside([], { env, stop }));
  return runInside([command.program, ...command.args], { env: process.env, stop });
}

process.exitCode = await main(process.argv.slice(2));
