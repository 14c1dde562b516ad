import { once } from 'node:events';
import { realCluster } from '../../test/e2e/cluster.ts';
import { present } from '../../test/e2e/controlplane/presented.ts';
import { parseCommand } from './options.ts';
import { startCluster } from './start.ts';

/** The half of `npm run lab -- cluster` that runs beside the control plane: boots the nodes, says how to reach them, and ends them. */
async function main(args: readonly string[], stop: AbortSignal): Promise<void> {
  const command = parseCommand(args);
  if (command.kind !== 'start') throw new Error('expected the arguments of a start');
  const cluster = await realCluster();
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  const fleet = await startCluster(cluster, { options: command.options, build: { env: process.env, progress } });
  try {
    const file = await present(
      { url: `https://127.0.0.1:${cluster.api.port}`, kubeconfig: cluster.kubeconfig },
      process.env,
    );
    process.stdout.write(
      `The cluster is ready; Ctrl-C ends it.\n\n  export KUBECONFIG=${file}\n  kubectl apply -f dist/\n`,
    );
    if (!stop.aborted) await Promise.race([once(stop, 'abort'), fleet.failed]);
  } finally {
    await fleet.stop();
  }
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort());
try {
  await main(process.argv.slice(2), stop.signal);
} catch (error) {
  // What a Ctrl-C takes away from a start is no fault of it.
  if (!stop.signal.aborted) process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = stop.signal.aborted ? 130 : 1;
}
