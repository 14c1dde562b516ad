import { MODE_LABEL } from '../../../runtime/api/k3os/names.ts';
import { MANAGED_LABEL, MANAGED_LABEL_V1, MANAGED_LABEL_VALUE } from '../../../runtime/api/shadow/names.ts';

/** Hosts by what updates them. */
export const HOST_KINDS = ['bottlerocket', 'updog', 'k3os'] as const;
export type HostKind = (typeof HOST_KINDS)[number];

/** The labels that have their nodes updated. */
export const KIND_LABELS: Readonly<Record<HostKind, Readonly<Record<string, string>>>> = {
  bottlerocket: { [MANAGED_LABEL]: MANAGED_LABEL_VALUE },
  updog: { [MANAGED_LABEL]: MANAGED_LABEL_V1 },
  // k3OS labels its nodes itself.
  k3os: { [MODE_LABEL]: 'disk' },
};
