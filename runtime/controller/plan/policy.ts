import type { Amount } from './amount.ts';

/** What the people who run the cluster decided. Durations in milliseconds. */
export interface Policy {
  readonly maxConcurrent: Amount;
  readonly maxFailed: Amount;
  /** The node that the controller itself runs on; it is updated last. */
  readonly ownNode: string;
  /** How long a node must be Ready after its update. */
  readonly soakMs: number;
  /** How long it may be not Ready then before it counts as failed. */
  readonly soakTimeoutMs: number;
  readonly agentTimeoutMs: number;
  readonly returnTimeoutMs: number;
  /** How long a node that is not Ready takes a slot; 0 = never. */
  readonly notReadyHoldMs: number;
  /** How many conditions a plan brings to its verdicts at most; 0 where the served CRD does not keep any. */
  readonly conditionWrites: number;
}
