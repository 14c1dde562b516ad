import { bootMutants } from './boots.ts';
import { drainMutants } from './drains.ts';
import { failureMutants } from './failures.ts';
import { freshnessMutants } from './freshness.ts';
import { k3osMutants } from './k3os.ts';
import { markMutants } from './marks.ts';
import type { Mutant } from './mutant.ts';
import { policyMutants } from './policies.ts';
import { requestMutants } from './requests.ts';
import { slotMutants } from './slots.ts';

/** The order of writes, and what each must have looked at: what no test of one process alone holds. */
export const MUTANTS: readonly Mutant[] = [
  ...slotMutants,
  ...freshnessMutants,
  ...markMutants,
  ...drainMutants,
  ...bootMutants,
  ...failureMutants,
  ...policyMutants,
  ...requestMutants,
  ...k3osMutants,
];
