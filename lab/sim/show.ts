import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../runtime/lib/clock.ts';
import { ADMIN } from './cluster/cluster.ts';
import type { SimOptions } from './options.ts';
import { type Rollout, type RolloutOptions, startRollout } from './rollout.ts';
import { rowsOf } from './view/rows.ts';
import { createScreen, type Screen } from './view/screen.ts';
import { ENDS_WITH_US } from './world/programs.ts';

const REDRAW_MS = 250;

/** Rolls a simulated fleet over before the user's eyes. Resolves with the exit code. */
export async function showRollout(request: RolloutOptions, out: NodeJS.WriteStream): Promise<number> {
  const screen = createScreen(out);
  const rollout = await startRollout(request).catch((error: unknown) => {
    if (!request.interrupted.aborted) throw error;
  });
  if (!rollout) return interruptedEarly(screen);
  let dashboard: ChildProcess | undefined;
  try {
    screen.say(await introduction(request.options, rollout));
    if (request.options.dashboard) dashboard = startDashboard(request.root, rollout, screen);
    await follow(rollout, screen);
    if (request.interrupted.aborted) return interruptedEarly(screen);
    const { lines, faults } = rollout.summary();
    for (const line of [...lines, ...faults.map((fault) => `FAULT: ${fault}`)]) screen.say(line);
    if (request.options.keep) await keep(rollout, screen, request.interrupted);
    return faults.length === 0 ? 0 : 1;
  } finally {
    dashboard?.kill('SIGINT');
    screen.end();
    await rollout.stop();
  }
}

function interruptedEarly(screen: Screen): number {
  screen.say('interrupted before the end');
  return 1;
}

/** Writes the kubeconfig and tells what is about to be seen. */
async function introduction(
  { nodes, from, to, concurrency, waves }: SimOptions,
  { dir, world }: Rollout,
): Promise<string> {
  const kubeconfig = join(dir, 'kubeconfig');
  await writeFile(kubeconfig, world.served.kubeconfig(ADMIN), { mode: 0o600 });
  return [
    `${nodes} node(s) go from ${from} to ${to}, ${concurrency} at a time${waves ? ', each once its wave has come' : ''}.`,
    `For another terminal: export KUBECONFIG=${kubeconfig}; kubectl get brs -A -w`,
    ...(waves
      ? [
          `There, too: node build/kubectl-brupop.mjs why node-3, or status, releases, plan --until-done: they say when its wave opens.`,
        ]
      : []),
    `The processes' logs are in ${dir}. All of it goes when this ends.`,
  ].join('\n');
}

/** The real program, as the user would start it on a cluster. What it says is shown. */
function startDashboard(root: string, { dir }: Rollout, screen: Screen): ChildProcess {
  const program = join(root, 'build/kubectl-brupop.mjs');
  const args = [...ENDS_WITH_US, program, 'dashboard', '--kubeconfig', join(dir, 'kubeconfig')];
  const child = spawn(process.execPath, args, { stdio: 'pipe' });
  for (const output of [child.stdout, child.stderr])
    output.on('data', (chunk: Buffer) => screen.say(chunk.toString().trimEnd()));
  return child;
}

/** Draws until the rollout is over; the last table stays. */
async function follow({ recorder, over }: Rollout, screen: Screen): Promise<void> {
  const ended = new AbortController();
  const end = over.finally(() => ended.abort(new Error('over')));
  while (!ended.signal.aborted) {
    screen.show(rowsOf(recorder, systemClock.now()));
    await systemClock.sleep(REDRAW_MS, ended.signal).catch(() => undefined);
  }
  screen.show(rowsOf(recorder, systemClock.now()));
  screen.end();
  await end;
}

/** Leaves the cluster to `kubectl` until the user has seen enough. */
async function keep({ dir }: Rollout, screen: Screen, interrupted: AbortSignal): Promise<void> {
  screen.say(`The cluster stays up until Ctrl-C: export KUBECONFIG=${join(dir, 'kubeconfig')}`);
  if (interrupted.aborted) return;
  await new Promise<void>((resolve) => interrupted.addEventListener('abort', () => resolve(), { once: true }));
}
