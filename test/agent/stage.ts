import { afterEach, expect } from '@jest/globals';
import { World, type WorldOptions } from './world.ts';

/** The world of the test that runs. In none may a node be rebooted that is in service. */
export let world: World;

export function build(options?: WorldOptions): World {
  world = new World(options);
  return world;
}

/** At rest, with 1.39.0 on offer, which the controller wants when `holding` ends. */
export async function offered(options?: WorldOptions): Promise<void> {
  build(options).operator.holding = true;
  await world.until(() => world.operator.log.at(-1) === 'Idle ->1.39.0');
}

afterEach(() => {
  expect(world.undrainedReboots).toEqual([]);
  world.end();
});
