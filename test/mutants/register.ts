import { agentMutants } from './agent.ts';
import { agentHostMutants } from './agent-host.ts';
import { apiserverMutants } from './apiserver.ts';
import { clusterMutants } from './cluster.ts';
import { controllerMutants } from './controller.ts';
import { e2eMutants } from './e2e.ts';
import { refusalMutants } from './e2e-refusals.ts';
import { leaseMutants } from './lease.ts';
import { limitMutants } from './limits.ts';
import type { Mutant } from './mutant.ts';
import { requestMutants } from './requests.ts';

/** Every rule that is known to be held by a test. */
export const MUTANTS: readonly Mutant[] = [
  ...agentMutants,
  ...agentHostMutants,
  ...apiserverMutants,
  ...clusterMutants,
  ...controllerMutants,
  ...e2eMutants,
  ...refusalMutants,
  ...leaseMutants,
  ...limitMutants,
  ...requestMutants,
];
