import { chance, oneOf } from './chance.ts';

/** Machines of one variant and architecture: what one of them makes of a release says nothing about the others. */
export interface Family {
  readonly variant: string;
  /** As Bottlerocket has it. */
  readonly arch: 'x86_64' | 'aarch64';
}

const USUAL: Family = { variant: 'aws-k8s-1.33', arch: 'x86_64' };
const OTHERS: readonly Family[] = [
  { ...USUAL, variant: 'aws-k8s-1.33-nvidia' },
  { ...USUAL, arch: 'aarch64' },
];

/** Most fleets are of one family; in others some machines are of a second one. What replaces a machine is as it was. */
export function familyOf(seed: number, node: string): Family {
  const random = chance(seed, 'environment/families');
  const isMixed = random() < 0.3;
  const other = oneOf(random, OTHERS);
  return isMixed && chance(seed, `environment/families/${node}`)() < 0.4 ? other : USUAL;
}

/** As a kubelet states it. */
export const osImageOf = ({ variant }: Family, version: string): string => `Bottlerocket OS ${version} (${variant})`;

/** As Kubernetes has it. */
export const archOf = ({ arch }: Family): string => (arch === 'x86_64' ? 'amd64' : 'arm64');
