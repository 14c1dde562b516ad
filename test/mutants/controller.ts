import { placeMutants } from './controller/places.ts';
import { recoveryMutants } from './controller/recovery.ts';
import { releaseMutants } from './controller/releases.ts';
import { slotMutants } from './controller/slots.ts';
import { timeMutants } from './controller/times.ts';
import type { Mutant } from './mutant.ts';

export const controllerMutants: readonly Mutant[] = [
  ...slotMutants,
  ...placeMutants,
  ...recoveryMutants,
  ...releaseMutants,
  ...timeMutants,
];
