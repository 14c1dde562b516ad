import type { Quantity } from '../../policy/quantity.ts';

/** What the people who run the cluster decided. Durations in milliseconds. */
export interface Policy {
  readonly maxConcurrent: Quantity;
  readonly maxFailed: Quantity;
  /** The node that the controller itself runs on; it is updated last. */
  readonly ownNode: string;
  /** How long a node must be Ready after its update. */
  readonly soakMs: number;
  /** How long it may be not Ready then before it counts as failed. */
  readonly soakTimeoutMs: number;
  readonly agentTimeoutMs: number;
  readonly returnTimeoutMs: number;
  /** How long the apiserver lets a drain take; 0 = for ever. */
  readonly drainTimeoutMs: number;
  /** How long a node that is not Ready takes a slot; 0 = never. */
  readonly notReadyHoldMs: number;
  /** An update must be done before the window closes, as far as can be told, or it does not start. */
  readonly mustFit: boolean;
  /** Nodes that run Bottlerocket get the label that asks for updates, each one once. */
  readonly labelNodes: boolean;
  /** Agents take their nodes out of load balancers before a drain. */
  readonly excludesFromLb: boolean;
  /** How many conditions a plan brings to its verdicts at most; 0 where the served CRD does not keep any. */
  readonly conditionWrites: number;
}
