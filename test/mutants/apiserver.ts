import { admissionMutants } from './apiserver/admission.ts';
import { conversionMutants } from './apiserver/conversion.ts';
import { drainMutants } from './apiserver/drain.ts';
import { drainSetMutants } from './apiserver/drain-set.ts';
import { drainWordMutants } from './apiserver/drain-words.ts';
import { endingMutants } from './apiserver/ending.ts';
import { releaseMutants } from './apiserver/release.ts';
import { statusMutants } from './apiserver/status.ts';
import { volumeMutants } from './apiserver/volumes.ts';
import type { Mutant } from './mutant.ts';

export const apiserverMutants: readonly Mutant[] = [
  ...admissionMutants,
  ...conversionMutants,
  ...drainMutants,
  ...drainSetMutants,
  ...drainWordMutants,
  ...endingMutants,
  ...releaseMutants,
  ...statusMutants,
  ...volumeMutants,
];
