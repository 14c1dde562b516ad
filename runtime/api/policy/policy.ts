import type { LabelSelector } from '../../lib/selector.ts';
import type { Asked } from '../shadow/asked.ts';
import type { LetFinish } from '../shadow/let-finish.ts';
import type { Checks } from './checks.ts';
import type { Quantity } from './quantity.ts';

/**
 * What was decided for the nodes that one policy rules: by a BottlerocketUpdatePolicy, or by the controller's variables. Durations are
 * milliseconds, times milliseconds since the Unix epoch.
 */
export interface UpdatePolicy {
  /** Undefined for the variables. */
  readonly name: string | undefined;
  /** Which nodes it selects. The variables select every node. */
  readonly selector: LabelSelector;
  /** Of the policies that select a node, the one with the highest priority rules it alone. That of the variables is -Infinity. */
  readonly priority: number;
  readonly paused: boolean;
  /** Undefined where it is not, or that is not known. */
  readonly pausedBy?: Asked | undefined;
  /** Nodes that may be updating at once, of those that it rules. */
  readonly maxConcurrent: Quantity;
  /** Nodes of a family that may fail on a release before it is halted. */
  readonly maxFailed: Quantity;
  /** From the end of an update to the next start. */
  readonly pauseBetweenMs: number;
  /** From the end of a node's last finished update to its next start; undefined = 0. */
  readonly minIntervalMs?: number | undefined;
  /** By when a release is to be complete, from its first offer on: it forces nothing; undefined = no date. */
  readonly completeWithinMs?: number | undefined;
  readonly zones: ZoneRules;
  /** Any of them opens. An empty list is always open; undefined = the schedule of the variables. */
  readonly windows: readonly UpdateWindow[] | undefined;
  /** An update must be done before the window closes, as far as can be told, or it does not start. */
  readonly mustFit: boolean;
  readonly freezes: readonly Freeze[];
  readonly version: VersionRules;
  readonly proof: ProofRules;
  readonly checks: Checks;
  /** Names of the policies where a release must be complete before it starts here. */
  readonly after: readonly string[];
  /** Names of other places where it must be proven. */
  readonly afterExternal: readonly string[];
  /** A person has to approve a release before it starts here. */
  readonly needsApproval: boolean;
  /** Nodes leave a release that was halted for its failures. */
  readonly rollsBack: boolean;
  /** No drain begins before there is room elsewhere for the pods that it moves. */
  readonly waitsForRoom: boolean;
  /** Signs of a node by which it counts as not Ready. */
  readonly unwell: readonly string[];
  /** Nodes that wait for a proven release keep evicted pods away, where others have room. */
  readonly prefersUpdated: boolean;
  /** How long a node must be Ready after its update before the update ends. */
  readonly soakMs: number;
  /** Whose work a drain lets finish before it begins; undefined = nobody's. */
  readonly letFinish: LetFinish | undefined;
  /** How long the update then waits for what its drain has displaced; 0 = not at all. */
  readonly settleMs: number;
  /** What is not back by then counts as a failure of the update. */
  readonly settleFails: boolean;
}

/** Nodes with the same value of the label `key` are a zone, those without the label as well. */
export interface ZoneRules {
  readonly key: string;
  /** Zones in which nodes may be updating at once; Infinity = no limit. */
  readonly atOnce: number;
}

/** Opens at the moments that a cron expression names. */
export interface UpdateWindow {
  /** Five cron fields, minute to day of the week. */
  readonly start: string;
  readonly durationMs: number;
  /** IANA name. */
  readonly timeZone: string;
}

/** A time in which nothing starts, whatever the windows say. */
export interface Freeze {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** For people; never empty. */
  readonly reason: string;
  /** It lets releases through that people have expedited. */
  readonly exceptExpedited?: boolean | undefined;
}

/** Which releases start. */
export interface VersionRules {
  /** How long a release must have been offered. */
  readonly minAgeMs: number;
  /** No version above it starts; undefined = no limit. */
  readonly max: string | undefined;
  /** No other version starts. */
  readonly exact: string | undefined;
  /** Hosts wait for no wave. */
  readonly ignoreWaves: boolean;
}

/** What a release needs before more nodes than these start on it. */
export interface ProofRules {
  /** Nodes of a family that must run it and be well. */
  readonly nodes: Quantity;
  /** For how long. */
  readonly soakMs: number;
  /** A label: nodes of each of its values prove it for themselves, as those without it do; undefined = all together. */
  readonly per?: string | undefined;
  /** Once it is proven, as many times the nodes that run it well update at once; undefined = as many as the budgets let. */
  readonly widen?: number | undefined;
  /** A node whose pods are clearly worse than elsewhere has failed on it. */
  readonly failsWorse?: boolean | undefined;
}

/**
 * A policy that cannot be obeyed. Each fault names a field, what was expected and what came. The policy still selects nodes, and no other policy
 * may rule these. `selector` and `priority` are undefined where they cannot be read.
 */
export interface InvalidPolicy {
  readonly name: string;
  readonly faults: readonly string[];
  readonly selector: LabelSelector | undefined;
  readonly priority: number | undefined;
  /** Whether it asks anything of nodes after their update, as far as can be told. */
  readonly checksAfter: boolean;
}
