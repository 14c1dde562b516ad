import type { PolicyStatus } from '../../../api/policy/model.ts';
import type { InvalidPolicy, UpdatePolicy } from '../../../api/policy/policy.ts';

/** Policies as plans see them. */

export type PolicyView = ValidPolicy | BrokenPolicy;

export interface ValidPolicy {
  readonly kind: 'valid';
  readonly policy: UpdatePolicy;
  readonly window: WindowState;
  /** How long any window ahead is open at most, milliseconds, where updates have to fit into one. */
  readonly longestWindowMs?: number | undefined;
  /** Undefined for that of the variables. */
  readonly resource: PolicyResource | undefined;
}

export interface BrokenPolicy {
  readonly kind: 'broken';
  readonly policy: InvalidPolicy;
  readonly resource: PolicyResource;
}

/** What the cluster says of a policy besides its spec. */
export interface PolicyResource {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly createdAt?: number | undefined;
  /** As last read. */
  readonly status: PolicyStatus | undefined;
}

/** The policy of the variables. */
export function variablesOf({ policies }: { readonly policies: readonly PolicyView[] }): ValidPolicy {
  const last = policies.at(-1);
  if (last?.kind !== 'valid') throw new TypeError('expected the policy of the variables as the last of all');
  return last;
}

/** When updates may start. */
export interface WindowState {
  readonly open: boolean;
  /** The last trigger, for schedules that are moments and not windows: what was offered before it may start. */
  readonly triggeredAt: number | undefined;
  /** When this answer changes; undefined = never. */
  readonly changesAt: number | undefined;
}
