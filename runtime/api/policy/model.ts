/** The resource as it stands on the wire. Any part of it may be null or missing, so `spec` is only read by `parse`. */
export interface PolicyObject {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly generation?: number;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly spec?: unknown;
  readonly status?: PolicyStatus | null;
}

/** Written by the controller. Times are RFC 3339. */
export interface PolicyStatus {
  /** `metadata.generation` of the spec that all of this is about. */
  readonly observedGeneration?: number | null;
  readonly nodes?: PolicyNodes | null;
  readonly releases?: readonly PolicyRelease[] | null;
  /** When time alone changes something: a window, a freeze, a soak. */
  readonly nextChangeAt?: string | null;
  readonly conditions?: readonly PolicyCondition[] | null;
}

/** How many of the managed nodes that the policy rules. */
export interface PolicyNodes {
  readonly selected: number;
  readonly upToDate: number;
  readonly updating: number;
  readonly waiting: number;
  readonly failed: number;
}

/** What became of one release on the nodes of one family that the policy rules. */
export interface PolicyRelease {
  /** Variant and architecture. */
  readonly family: string;
  readonly version: string;
  readonly firstOfferedAt?: string | null;
  readonly provenAt?: string | null;
  readonly completedAt?: string | null;
  /** Nodes that have failed on it. */
  readonly failed?: number | null;
}

/** As Kubernetes' own `metav1.Condition`. */
export interface PolicyCondition {
  readonly type: PolicyConditionType | (string & {});
  readonly status: 'True' | 'False' | 'Unknown';
  readonly observedGeneration?: number | null;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/**
 * Accepted: the spec can be obeyed. Progressing: updates go on, or what they wait for. Halted: a release has used up what may fail. WillMissDeadline, where
 * the policy has a date: a release will not be complete by it.
 */
export type PolicyConditionType = 'Accepted' | 'Progressing' | 'Halted' | 'WillMissDeadline';

/** Releases of one family that a status keeps at most. */
export const MAX_FAMILY_RELEASES = 5;

/** Releases that a status keeps at most: five each of 20 families, or one each of 100. At about 220 bytes each they take 22 kB of etcd's 1.5 MB. */
export const MAX_RELEASES = 100;
