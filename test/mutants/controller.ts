import { blameMutants } from './controller/blame.ts';
import { placeMutants } from './controller/places.ts';
import { recoveryMutants } from './controller/recovery.ts';
import { releaseMutants } from './controller/releases.ts';
import { roomMutants } from './controller/room.ts';
import { slotMutants } from './controller/slots.ts';
import { timeMutants } from './controller/times.ts';
import type { Mutant } from './mutant.ts';

export const controllerMutants: readonly Mutant[] = [
  ...slotMutants,
  ...placeMutants,
  ...roomMutants,
  ...recoveryMutants,
  ...releaseMutants,
  ...blameMutants,
  ...timeMutants,
];
