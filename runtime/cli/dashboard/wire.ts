import type { Reason } from '../../controller/plan/verdict.ts';
import type { Standing, Step } from '../status/fleet.ts';
import type { Counts } from '../status/status.ts';

/** What the page is told. It draws this and decides nothing. Times are milliseconds since the Unix epoch; what nobody knows is left out. */

export interface Model {
  readonly sections: Sections;
  /** The managed nodes. */
  readonly nodes: readonly NodeRow[];
}

/** Each is told anew as a whole when anything of it has changed. */
export interface Sections {
  readonly fleet: Fleet;
  readonly policies: readonly PolicyCard[];
  readonly queue: Queue;
  readonly timeline: readonly Bar[];
  readonly events: readonly Told[];
}

export interface Fleet {
  /** The context of the kubeconfig. */
  readonly cluster?: string | undefined;
  readonly counts: Counts;
  readonly paused: boolean;
  readonly notKnown: readonly string[];
  /** What only a person ends, a sentence each. */
  readonly needsYou: readonly Trouble[];
  readonly budget: Budget;
  readonly pace: {
    readonly finishedLastHour: number;
    readonly left: number;
    readonly stuck: number;
    readonly typicalMs?: number | undefined;
    readonly endsAt?: number | undefined;
  };
}

export interface Trouble {
  readonly title: string;
  readonly text: string;
  /** What to do. */
  readonly remedy?: string | undefined;
  /** The first of those that it is about, and how many these are: a thousand that wait are not told of again for each that begins. */
  readonly nodes: readonly string[];
  readonly count: number;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export interface Budget {
  /** Absent where there is no limit. */
  readonly capacity?: number | undefined;
  /** The first of those that take a part of it, and how many these are. */
  readonly holders: readonly Place[];
  readonly taken: number;
}

/** Who takes a part of the budget, and why. */
export interface Place {
  readonly node: string;
  /** Absent where an update does that goes on. */
  readonly why?: string | undefined;
  /** When it is free again by itself. */
  readonly until?: number | undefined;
}

export interface PolicyCard {
  /** Absent for the controller's variables. */
  readonly name?: string | undefined;
  readonly counts: Counts;
  readonly says?: string | undefined;
  readonly halted?: string | undefined;
  /** How many of its nodes may be updating at once; absent where there is no limit, or none is known. */
  readonly atOnce?: number | undefined;
  readonly nextChangeAt?: number | undefined;
  readonly releases: readonly Release[];
}

export interface Release {
  readonly family: string;
  readonly version: string;
  readonly state: 'proven' | 'unproven' | 'halted' | 'offered' | 'complete';
  readonly failed: number;
}

export interface Queue {
  /** Who comes next, as far as is foreseen. */
  readonly next: readonly Turn[];
  /** Everybody who waits, by what keeps them. */
  readonly waiting: readonly Trouble[];
}

export interface Turn {
  readonly node: string;
  readonly policy?: string | undefined;
  readonly version?: string | undefined;
  /** Absent where it is not foreseen. */
  readonly at?: number | undefined;
}

export interface NodeRow {
  readonly name: string;
  readonly policy?: string | undefined;
  readonly zone?: string | undefined;
  readonly family: string;
  readonly standing: Standing;
  readonly step?: Step | undefined;
  /** It does not go on before somebody does something. */
  readonly stuck?: true | undefined;
  readonly reason: Reason;
  readonly message: string;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly runs?: string | undefined;
  readonly offered?: string | undefined;
  readonly drain?: Drain | undefined;
  readonly failure?: { readonly text: string; readonly times: number; readonly at?: number | undefined } | undefined;
  readonly lastUpdateMs?: number | undefined;
  readonly finishedAt?: number | undefined;
}

export interface Drain {
  readonly podsLeft: number;
  readonly blockedBy: readonly string[];
  readonly startedAt?: number | undefined;
}

/** A part of the rollout in time. */
export interface Bar {
  readonly node: string;
  readonly kind: 'done' | 'failed' | 'running' | 'next';
  readonly from: number;
  /** Of what is not over, an estimate. */
  readonly to?: number | undefined;
  readonly step?: Step | undefined;
}

/** An Event, or what an object says of the past. */
export interface Told {
  readonly at: number;
  readonly object: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly times?: number | undefined;
}

/** One message of the stream. */
export interface Message {
  /** When the cluster was last seen as this is. */
  readonly at: number;
  /** What keeps the cluster from being seen since; absent where nothing does. */
  readonly trouble?: string | undefined;
  /** What was told before is void. */
  readonly whole?: true | undefined;
  readonly sections: Partial<Sections>;
  /** New ones, and those of which something has changed. */
  readonly nodes: readonly NodeRow[];
  readonly gone: readonly string[];
}

/** What is known of one node's past. */
export interface Past {
  readonly notKnown: readonly string[];
  readonly moments: readonly Told[];
}
