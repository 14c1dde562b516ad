import { admissionMutants } from './apiserver/admission.ts';
import { drainMutants } from './apiserver/drain.ts';
import { releaseMutants } from './apiserver/release.ts';
import { statusMutants } from './apiserver/status.ts';
import type { Mutant } from './mutant.ts';

export const apiserverMutants: readonly Mutant[] = [
  ...admissionMutants,
  ...drainMutants,
  ...releaseMutants,
  ...statusMutants,
];
