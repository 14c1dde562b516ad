import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../runtime/lib/clock.ts';
import { End } from './end.ts';
import type { SimOptions } from './options.ts';
import { Recorder } from './view/recorder.ts';
import { type Summary, summarise } from './view/summary.ts';
import { observe } from './world/observer.ts';
import { createWorld, type World, type WorldOptions } from './world/world.ts';

export interface RolloutOptions extends Pick<WorldOptions, 'root' | 'edit' | 'containers'> {
  readonly options: SimOptions;
  /** Ends the rollout wherever it is. */
  readonly interrupted: AbortSignal;
}

/** A fleet that is being rolled over, in a world of its own. */
export interface Rollout {
  readonly world: World;
  /** What the cluster's watch streams have told so far. */
  readonly recorder: Recorder;
  /** Folder with the logs, gone after `stop`. */
  readonly dir: string;
  /** Resolves when nothing more will happen to the fleet, or it was interrupted. Rejects when the world broke. */
  readonly over: Promise<void>;
  summary(): Summary;
  /** Ends every process and removes every file. */
  stop(): Promise<void>;
}

/** Longest path of a unix socket on Linux. */
const LONGEST_SOCKET_PATH = 107;

/** Builds a world in a temporary folder and lets it run. @throws Error where the system's folder for such has too long a name */
export async function startRollout(request: RolloutOptions): Promise<Rollout> {
  const dir = await mkdtemp(join(tmpdir(), 'brupop-'));
  const ending = new AbortController();
  const signal = AbortSignal.any([request.interrupted, ending.signal]);
  const remove = (): Promise<void> => rm(dir, { recursive: true, force: true });
  try {
    checkSocketPaths(dir);
    return await start(request, { dir, signal, ending, remove });
  } catch (error) {
    ending.abort(error);
    await remove();
    throw error;
  }
}

interface Lifetime {
  readonly dir: string;
  readonly signal: AbortSignal;
  readonly ending: AbortController;
  readonly remove: () => Promise<void>;
}

async function start(
  { options, ...rest }: RolloutOptions,
  { dir, signal, ending, remove }: Lifetime,
): Promise<Rollout> {
  const world = await createWorld({ ...rest, options, clock: systemClock, random: Math.random, dir, signal });
  const recorder = new Recorder();
  const end = new End({ to: options.to, clock: systemClock, signal });
  const running = Promise.all([
    world.run(),
    observe({ transport: world.transport, clock: systemClock, recorder, onChange: () => end.look(recorder) }, signal),
  ]);
  running.catch((error: unknown) => end.broken(error));
  return {
    world,
    recorder,
    dir,
    over: end.over,
    summary: () => summarise({ recorder, to: options.to, evictions: world.evictions() }),
    stop: async () => {
      ending.abort(new Error('the rollout is over'));
      await running.catch(() => undefined);
      await remove();
    },
  };
}

function checkSocketPaths(dir: string): void {
  if (join(dir, 'hosts', 'node-000', 'api.sock').length <= LONGEST_SOCKET_PATH) return;
  throw new Error(
    `the folder for temporary files, ${tmpdir()}, has too long a name for unix sockets: set TMPDIR to another`,
  );
}
