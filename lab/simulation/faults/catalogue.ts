import { credentialFaults } from './credentials.ts';
import { type DrawnKind, SECOND } from './kind.ts';
import { kubeletFaults } from './kubelets.ts';
import { leaseFaults } from './lease.ts';
import { machineFaults } from './machines.ts';
import { networkFaults } from './network.ts';
import { peopleFaults } from './people.ts';
import { policyFaults } from './policies.ts';
import { processFaults } from './processes.ts';
import { updatePolicyFaults } from './update-policies.ts';
import { watchFaults } from './watches.ts';
import { workloadFaults } from './workloads.ts';

/** Everything that can go wrong in a simulation. */
export const CATALOGUE: readonly DrawnKind[] = [
  ...networkFaults,
  ...watchFaults,
  ...processFaults,
  ...leaseFaults,
  ...policyFaults,
  ...machineFaults,
  ...kubeletFaults,
  ...peopleFaults,
  ...updatePolicyFaults,
  ...workloadFaults,
  ...credentialFaults,
];

const BY_NAME: ReadonlyMap<string, DrawnKind> = new Map(CATALOGUE.map((kind) => [kind.name, kind]));

/** @throws where the catalogue has no such kind: a scenario of another version */
export function drawnKind(name: string): DrawnKind {
  const kind = BY_NAME.get(name);
  if (!kind) throw new Error(`fault: expected one of the catalogue's kinds, got ${JSON.stringify(name)}`);
  return kind;
}

/** Whether it may last longer than the moment at which it begins; what does not has no end to be told. */
export function isLasting(name: string): boolean {
  return (BY_NAME.get(name)?.lasts[1] ?? 0) > SECOND;
}
