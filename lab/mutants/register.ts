import { bootMutants } from './boots.ts';
import { cadenceMutants } from './cadence.ts';
import { checkMutants } from './checks.ts';
import { drainMutants } from './drains.ts';
import { failureMutants } from './failures.ts';
import { freshnessMutants } from './freshness.ts';
import { furtherPermits } from './further-permits.ts';
import { hintMutants } from './hints.ts';
import { ledgerMutants } from './ledgers.ts';
import { liveLookMutants } from './live-look.ts';
import { lockMutants } from './locks.ts';
import { markMutants } from './marks.ts';
import { describe, type Mutant } from './mutant.ts';
import { policyMutants } from './policies.ts';
import { permitMutants } from './permits.ts';
import { proofMutants } from './proofs.ts';
import { taintMutants } from './taints.ts';
import { versionMutants } from './versions.ts';
import { workloadMutants } from './workloads.ts';

/** Rules that are broken on purpose: `npm run lab -- mutants` runs the tests that must notice, and `npm run lab -- simulate --planted` storms. */
export const MUTANTS: readonly Mutant[] = [
  ...permitMutants,
  ...furtherPermits,
  ...liveLookMutants,
  ...freshnessMutants,
  ...hintMutants,
  ...markMutants,
  ...drainMutants,
  ...bootMutants,
  ...lockMutants,
  ...failureMutants,
  ...ledgerMutants,
  ...checkMutants,
  ...policyMutants,
  ...proofMutants,
  ...cadenceMutants,
  ...taintMutants,
  ...versionMutants,
  ...workloadMutants,
];

/** Those whose descriptions contain each of the texts. @throws Error where there are none */
export function mutantsAbout(texts: readonly string[]): readonly Mutant[] {
  const about = MUTANTS.filter((mutant) => texts.every((text) => describe(mutant).includes(text)));
  if (about.length > 0) return about;
  throw new Error(`no mutant's description contains "${texts.join(' ')}"; see npm run lab -- mutants --list`);
}
