import type { Reason } from '../../controller/plan/facts/reasons.ts';
import type { Step } from '../../controller/plan/facts/steps.ts';
import type { Standing } from '../status/members.ts';
import type { Counts } from '../status/status.ts';

/** The messages to the page, which draws them and decides nothing. Times are milliseconds since the Unix epoch. Unknown values are left out. */

export interface Model {
  readonly sections: Sections;
  /** The managed nodes. */
  readonly nodes: readonly NodeRow[];
}

/** A section is sent as a whole when anything in it has changed. */
export interface Sections {
  readonly fleet: FleetCard;
  readonly policies: readonly PolicyCard[];
  /** Releases that are on their way to nodes. */
  readonly curves: readonly ReleaseCurve[];
  readonly queue: Queue;
  readonly timeline: Timeline;
  readonly events: readonly EventRow[];
}

export interface FleetCard {
  /** The context of the kubeconfig. */
  readonly cluster?: string | undefined;
  /** What a command that is shown needs for this cluster and user. */
  readonly flags: string;
  readonly counts: Counts;
  readonly paused: boolean;
  /** Follows `Paused`; empty where that is not known. */
  readonly pausedBy: string;
  readonly notKnown: readonly string[];
  /** What people have decided on releases, a sentence each. */
  readonly decided: readonly string[];
  /** What waits for a person. */
  readonly needsYou: readonly Trouble[];
  readonly budget: BudgetCard;
  readonly pace: {
    readonly finishedLastHour: number;
    readonly left: number;
    /** Nodes that wait for their waves. */
    readonly toCome: number;
    readonly stuck: number;
    /** Nodes that only a person can let go on, e.g. `a, b (Held)`. */
    readonly waitsFor: readonly string[];
    readonly typicalMs?: number | undefined;
    readonly typicalRebootMs?: number | undefined;
    readonly endsAt?: number | undefined;
  };
}

export interface Trouble {
  readonly title: string;
  readonly text: string;
  /** What to do. */
  readonly remedy?: string | undefined;
  /** Commands that show more or end it. */
  readonly commands?: readonly string[] | undefined;
  /** The first nodes that it concerns, and how many there are. A longer list would change, and be sent again, with each node that starts. */
  readonly nodes: readonly string[];
  readonly count: number;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

interface BudgetCard {
  /** Absent where there is no limit. */
  readonly capacity?: number | undefined;
  /** The first nodes that take a part of it, and how many there are. */
  readonly holders: readonly PlaceHolder[];
  readonly taken: number;
}

/** A node that takes a part of the budget, and why. */
export interface PlaceHolder {
  readonly node: string;
  /** Absent where its update is running. */
  readonly why?: string | undefined;
  /** When it becomes free by itself. */
  readonly until?: number | undefined;
}

export interface PolicyCard {
  /** Absent for the nodes that no policy rules. */
  readonly name?: string | undefined;
  readonly counts: Counts;
  readonly says?: string | undefined;
  readonly halted?: string | undefined;
  /** That a release will not be complete by its date. */
  readonly late?: string | undefined;
  /** How many of its nodes may be updating at once; absent where there is no limit, or none is known. */
  readonly atOnce?: number | undefined;
  readonly nextChangeAt?: number | undefined;
  readonly releases: readonly ReleaseRow[];
}

export interface ReleaseRow {
  readonly family: string;
  readonly version: string;
  readonly state: 'proven' | 'unproven' | 'halted' | 'offered' | 'complete';
  readonly failed: number;
}

/** How a release comes to the nodes of a family. */
export interface ReleaseCurve {
  readonly family: string;
  readonly version: string;
  /** Of the family. */
  readonly nodes: number;
  /** How far it has come, in a sentence without its end. */
  readonly says: string;
  /** How many nodes its waves have reached, and how many run it. The first is the beginning. */
  readonly waves: readonly Count[];
  readonly runs: readonly Count[];
}

/** A number from a moment on. */
export interface Count {
  readonly at: number;
  readonly count: number;
}

export interface Queue {
  /** The next starts, as far as the forecast goes. */
  readonly next: readonly Turn[];
  /** All nodes that wait, grouped by reason. */
  readonly waiting: readonly Trouble[];
}

interface Turn {
  readonly node: string;
  readonly policy?: string | undefined;
  readonly runs?: string | undefined;
  readonly version?: string | undefined;
  /** Absent where the forecast does not say. */
  readonly at?: number | undefined;
}

export interface NodeRow {
  readonly name: string;
  readonly policy?: string | undefined;
  readonly zone?: string | undefined;
  readonly family: string;
  readonly standing: Standing;
  readonly step?: Step | undefined;
  /** What that is called. */
  readonly doing?: string | undefined;
  /** The node waits for a person. */
  readonly stuck?: true | undefined;
  readonly reason: Reason;
  readonly message: string;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly runs?: string | undefined;
  readonly offered?: string | undefined;
  readonly drain?: DrainRow | undefined;
  /** What becomes of it while it waits. */
  readonly meanwhile?: string | undefined;
  /** When its reboot was requested, while it is away. */
  readonly awaySince?: number | undefined;
  readonly failure?: { readonly text: string; readonly times: number; readonly at?: number | undefined } | undefined;
  readonly lastUpdateMs?: number | undefined;
  readonly finishedAt?: number | undefined;
}

export interface DrainRow {
  /** Undefined where it is not known, or the node is not cordoned yet. */
  readonly podsLeft?: number | undefined;
  readonly blockedBy: readonly string[];
  readonly startedAt?: number | undefined;
  /** When it is given up. */
  readonly endsAt?: number | undefined;
  /** Since when nobody reports it. */
  readonly silentSince?: number | undefined;
}

export interface Timeline {
  readonly bars: readonly Bar[];
  /** How many nodes have no bar: with an update that ended in the last hours, with a running one, and waiting. */
  readonly leftOut: { readonly past: number; readonly running: number; readonly waiting: number };
}

/** A bar of the timeline: one update, or one attempt, of a node. */
export interface Bar {
  readonly node: string;
  readonly kind: 'done' | 'failed' | 'running' | 'next';
  readonly from: number;
  /** An estimate for an update that is not over. */
  readonly to?: number | undefined;
  readonly doing?: string | undefined;
}

/** A moment of the past, from an Event or an object. */
export interface EventRow {
  readonly at: number;
  readonly object: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly times?: number | undefined;
}

/** One message of the stream. */
export interface Message extends MessageBody {
  /** When it was sent, by the clock of the program. The clock of a browser may differ. */
  readonly now: number;
}

/** What a message says. */
export interface MessageBody {
  /** When the cluster was read. */
  readonly at: number;
  /** Why the cluster cannot be read since then; absent where it can. */
  readonly trouble?: string | undefined;
  /** The message replaces everything that was sent before. */
  readonly whole?: true | undefined;
  readonly sections: Partial<Sections>;
  /** Nodes that are new or have changed. */
  readonly nodes: readonly NodeRow[];
  readonly gone: readonly string[];
}

/** The past of one node. */
export interface NodePast {
  readonly notKnown: readonly string[];
  readonly moments: readonly EventRow[];
}
