import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../runtime/lib/clock.ts';
import type { SimOptions } from './options.ts';
import { isOver } from './view/outcome.ts';
import { Recorder } from './view/recorder.ts';
import { type Summary, summarise } from './view/summary.ts';
import { observe } from './world/observer.ts';
import { createWorld, type World, type WorldOptions } from './world/world.ts';

export interface RolloutOptions extends Pick<WorldOptions, 'root' | 'edit'> {
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

/** Builds a world in a temporary folder and lets it run. */
export async function startRollout({ options, interrupted, ...rest }: RolloutOptions): Promise<Rollout> {
  const dir = await mkdtemp(join(tmpdir(), 'brupop-'));
  const ending = new AbortController();
  const signal = AbortSignal.any([interrupted, ending.signal]);
  const world = await createWorld({ ...rest, options, clock: systemClock, random: Math.random, dir, signal });
  const recorder = new Recorder();
  const done = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => done.resolve(), { once: true });
  const onChange = (): void => {
    if (isOver(recorder, options.to)) done.resolve();
  };
  const running = Promise.all([
    world.run(),
    observe({ transport: world.transport, clock: systemClock, recorder, onChange }, signal),
  ]);
  running.catch((error: unknown) => done.reject(error));
  return {
    world,
    recorder,
    dir,
    over: done.promise,
    summary: () => summaryOf({ options, world, recorder }),
    stop: async () => {
      ending.abort(new Error('the rollout is over'));
      await running.catch(() => undefined);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function summaryOf({
  options,
  world,
  recorder,
}: Pick<Rollout, 'world' | 'recorder'> & { readonly options: SimOptions }): Summary {
  return summarise({
    recorder,
    to: options.to,
    slots: slots(options),
    speed: options.speed,
    hostWork: new Map([...world.nodes].map(([name, { host }]) => [name, host.intervals])),
    evictions: world.evictions(),
  });
}

/** Nodes that the policy lets update at once. */
function slots({ concurrency, nodes }: SimOptions): number {
  if (concurrency === 'unlimited') return nodes;
  if (!concurrency.endsWith('%')) return Number(concurrency);
  return Math.max(1, Math.floor((nodes * Number.parseInt(concurrency, 10)) / 100));
}
