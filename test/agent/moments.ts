import type { Stride } from '../random.ts';
import { World, type WorldOptions } from './world.ts';

/** A host whose work takes so little that every moment of an update can be tried. */
const QUICK: WorldOptions = {
  hostTimes: { refreshMs: 60, prepareMs: 300, rebootMs: 2000, shutdownMs: 500 },
};

export interface Disturbance {
  readonly disturb: (world: World) => void;
  /** Before the first moment. */
  readonly prepare?: (world: World) => void;
  readonly options?: WorldOptions;
  /** Which moments. @default every one */
  readonly stride?: Stride;
}

export function quickWorld(options?: WorldOptions): World {
  const world = new World({ ...QUICK, ...options });
  world.operator.drainMs = 300;
  return world;
}

/**
 * One update for every moment of it, or each that is chosen, disturbed at that moment. A moment is whatever an agent waits for, before it asks and before it
 * hears the answer: requests, the watch, the boot id, and time itself.
 */
export async function everyMoment(disturbance: Disturbance): Promise<World[]> {
  const worlds: World[] = [];
  const { stride = { first: 0, step: 1 } } = disturbance;
  for (let at = stride.first; ; at += stride.step) {
    const world = await disturbed(at, disturbance);
    if (!world) return worlds;
    worlds.push(world);
  }
}

/** One update, disturbed at the moment number `at`; undefined where the update is over before it. */
async function disturbed(at: number, { disturb, prepare, options }: Disturbance): Promise<World | undefined> {
  const world = quickWorld(options);
  prepare?.(world);
  let moment = 0;
  world.onMoment = () => {
    if (moment++ === at) disturb(world);
  };
  while (!(world.updated || world.restored)) await step(world);
  world.onMoment = () => undefined;
  world.kill();
  return moment > at ? world : undefined;
}

const STEP_MS = 5000;
const LONGEST_MS = 3_600_000;

/** Coarser than `World.until`, because thousands of worlds are run to their end. */
async function step(world: World): Promise<void> {
  await world.advance(STEP_MS);
  if (world.clock.monotonic() > LONGEST_MS) throw new Error(`no end within an hour:\n${world.operator.log.join('\n')}`);
}
