import type { FaultKind } from '../types.ts';
import { credentialFaults } from './credentials.ts';
import { SECOND } from '../units.ts';
import { leaseFaults } from './lease.ts';
import { ledgerFaults } from './ledgers.ts';
import { machineFaults } from './machines.ts';
import { networkFaults } from './network.ts';
import { peopleFaults } from './people.ts';
import { policyFaults } from './policies.ts';
import { processFaults } from './processes.ts';
import { updatePolicyFaults } from './update-policies.ts';
import { watchFaults } from './watches.ts';
import { workloadFaults } from './workloads.ts';

const BY_NAME: ReadonlyMap<string, FaultKind> = new Map(
  Object.entries({
    ...networkFaults,
    ...watchFaults,
    ...processFaults,
    ...leaseFaults,
    ...ledgerFaults,
    ...policyFaults,
    ...machineFaults,
    ...peopleFaults,
    ...updatePolicyFaults,
    ...workloadFaults,
    ...credentialFaults,
  }).map(([name, kind]) => [name, { name, ...kind }]),
);

/** Everything that can go wrong in a simulation. */
export const CATALOGUE: readonly FaultKind[] = [...BY_NAME.values()];

/** @throws where the catalogue has no such kind: a scenario of another version */
export function kindOf(name: string): FaultKind {
  const kind = BY_NAME.get(name);
  if (!kind) throw new Error(`fault: expected one of the catalogue's kinds, got ${JSON.stringify(name)}`);
  return kind;
}

/** Whether it may last longer than the moment at which it begins; what does not has no end to be told. */
export const isLasting = (name: string): boolean => (BY_NAME.get(name)?.lasts[1] ?? 0) > SECOND;
