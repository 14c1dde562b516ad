import type { Quantity } from '../../policy/quantity.ts';

/** What holds for the whole controller, whatever policy rules a node. Durations in milliseconds. */
export interface Settings {
  /** Nodes that may be updating at once, under all policies together. */
  readonly maxConcurrent: Quantity;
  /** The node that the controller itself runs on; it is updated last. */
  readonly ownNode: string;
  /** How long a node may be not Ready after its update before it counts as failed. */
  readonly soakTimeoutMs: number;
  readonly agentTimeoutMs: number;
  readonly returnTimeoutMs: number;
  /** How long the apiserver lets a drain take; 0 = for ever. */
  readonly drainTimeoutMs: number;
  /** How long a node that is not Ready takes a slot; 0 = never. */
  readonly notReadyHoldMs: number;
  /** Nodes that run Bottlerocket get the label that asks for updates, each one once. */
  readonly labelNodes: boolean;
  /** Agents take their nodes out of load balancers before a drain. */
  readonly excludesFromLb: boolean;
  /** How many conditions a plan brings to its verdicts at most; 0 where the served CRD does not keep any. */
  readonly conditionWrites: number;
}
