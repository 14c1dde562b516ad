import type { Spec, VersionWish } from '../../runtime/api/shadow/model.ts';
import type { World } from './world.ts';

/** What a test does by hand to one node's world, at the moment that it means. */

export const staged = (version: string): Spec => ({ state: 'StagedAndPerformedUpdate', version });
export const rebooted = (version: string): Spec => ({ state: 'RebootedIntoUpdate', version });

/** What the controller wishes of the host's settings from now on; null = nothing. */
export function wish({ operator }: World, wanted: VersionWish | null): void {
  const version_wish = wanted && { version_lock: null, ignore_waves: null, ...wanted };
  operator.want({ state: 'Idle', ...operator.shadow.value?.spec, version_wish });
}

/** The failures that were reported. */
export const reports = ({ operator }: World): string[] => operator.log.filter((line) => line.startsWith('ErrorReset'));

/** The last thing that the operator granted is the record of a reboot that has not been requested yet. */
export const recorded = ({ operator }: World): boolean => operator.log.at(-1)?.endsWith('record') ?? false;

/** Kills the agent at the first moment at which `now`: nothing that it would have asked next is asked. */
export async function death(world: World, now: () => boolean): Promise<void> {
  const died = Promise.withResolvers<void>();
  world.onMoment = () => {
    if (!now()) return;
    world.onMoment = () => undefined;
    world.kill();
    died.resolve();
  };
  await world.clock.advanceUntil(died.promise, 3_600_000);
}

/** What the controller does for a node whose agent is silent; its marks go as well. */
export function rescue({ operator }: World): void {
  operator.obeying = false;
  if (operator.shadow.value) operator.want({ state: 'Idle', version: '1.39.0' });
  operator.release();
}

export async function unplannedReboot(world: World): Promise<void> {
  world.host.crash();
  await world.advance(120_000);
}
