import type { Marks } from '../../../api/marks/marks.ts';
import type { PolicyView } from './policies.ts';
import type { Quantity } from '../../../api/policy/quantity.ts';
import type { Asked, Pause } from '../../../api/shadow/asked.ts';
import type { Crossed } from '../../../api/shadow/crossed.ts';
import type { Hint } from '../../../api/shadow/hint.ts';
import type { Ledger } from '../../../api/release/ledger.ts';
import type { Decided, Decision, PublishedReleases, SaidOfPlaces } from '../../../api/release/model.ts';
import type { Spec, Status } from '../../../api/shadow/model.ts';
import type { CheckAnswers } from './checks.ts';
import type { Command } from './commands.ts';
import type { PermitView } from './permit.ts';
import type { Phase } from './phase.ts';
import type { Stop } from './verdict.ts';

/** Everything that `plan` decides on. Times are milliseconds since the Unix epoch, here and in all of a plan. */
export interface Snapshot extends Pause {
  /** Every node of the cluster, managed or not: marks can be on any. */
  readonly nodes: readonly NodeView[];
  readonly shadows: readonly ShadowView[];
  /** As they were when they were deleted. Not all: what a list alone shows to be gone is not known so. */
  readonly deletedShadows?: readonly LastOfShadow[];
  readonly deletedNodes?: readonly LastOfNode[];
  readonly permits: readonly PermitView[];
  /** By node name, since when this process has seen no container of its agent run; a node that is not in here has a running agent. */
  readonly silentSince: ReadonlyMap<string, number>;
  /** By node name: what the last container of its agent that ended has said of that. */
  readonly lastWords?: ReadonlyMap<string, string>;
  /** By UID of the node, since when its policy rules it, where that is news; a node that is not in here has been ruled so for long. */
  readonly ruledSince?: ReadonlyMap<string, number>;
  /** Every policy. The last is that of the controller's variables, which rules the nodes that no other policy selects. */
  readonly policies: readonly PolicyView[];
  readonly releases: Releases;
  /** What of all this is not known to be current, as a sentence; undefined where all is. Nothing is disturbed anew meanwhile. */
  readonly notCurrent: string | undefined;
  /** Which other operator is in the cluster, and why nobody would take the place of evicted pods, as sentences; undefined where that is not known. */
  readonly otherOperators?: string | undefined;
  readonly controlPlaneAway?: string | undefined;
  readonly checks?: CheckAnswers;
  /** Writes that the API server has refused or not answered of late, and not taken since, by name of the node's shadow. */
  readonly refusals: ReadonlyMap<string, readonly WriteRefusal[]>;
  /** Nodes whose drain is refused, or whose update was called off for that, by name of the shadow. */
  readonly drainRefusals: ReadonlyMap<string, DrainRefusal>;
}

interface Releases {
  readonly objects: readonly ReleaseView[];
  /** Why the ledger of a release cannot be written, by name of its object. */
  readonly refused: ReadonlyMap<string, string>;
  /** Another than this operator's last term has decided since: what shadows and policies say is added. */
  readonly seeds: boolean;
  /** What repositories list, by family where that was read. Nothing that is done depends on it. */
  readonly published?: PublishedReleases;
}

/** A BottlerocketRelease: the controller's own, or one that a person has made to decide. */
export interface ReleaseView extends Partial<Record<SaidOfPlaces, readonly string[]>> {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly family: string;
  readonly version: string;
  readonly decision: Decision;
  readonly decided?: Decided | undefined;
  readonly ledger: Ledger;
}

/** What holds for the whole controller, whatever policy rules a node. Durations in milliseconds. */
export interface Settings {
  /** Nodes that may be updating at once, under all policies together. */
  readonly maxConcurrent: Quantity;
  /** Nodes that may prepare their update while they wait; undefined = as many as may be updating at once. */
  readonly readAhead: Quantity | undefined;
  /** Managed nodes that may be not Ready before nothing new is disturbed; never fewer than 3. */
  readonly maxUnhealthy: Quantity;
  /** The node that the controller itself runs on; it is updated last. */
  readonly ownNode: string;
  /** How long a node may be not Ready after its update before it counts as failed. */
  readonly soakTimeoutMs: number;
  readonly agentTimeoutMs: number;
  readonly returnTimeoutMs: number;
  /** How long the apiserver lets a drain take; 0 = for ever. */
  readonly drainTimeoutMs: number;
  /** How long a node that is not Ready, or that somebody else has out, takes a place; 0 = never. */
  readonly notReadyHoldMs: number;
  /** How long a host may fail to look for updates. */
  readonly checkFailedAfterMs: number;
  /** Nodes that run Bottlerocket get the label that asks for updates, each one once. */
  readonly labelNodes: boolean;
  /** Key of the taint with which machines join that are to be updated before pods land on them. */
  readonly arrivingTaint: string;
  /** Agents take their nodes out of load balancers before a drain. */
  readonly excludesFromLb: boolean;
  /** How many conditions a plan brings to its verdicts at most; 0 where the served CRD does not keep any. */
  readonly conditionWrites: number;
}

/** Without a break since when the drain is refused; or before when its update, which was called off for that, is not tried again. */
export type DrainRefusal =
  { readonly kind: 'refused'; readonly since: number } | { readonly kind: 'called-off'; readonly retryAt: number };

/** A command that the API server refused, or did not answer, when it was last asked: in words that stay the same for as long. */
export interface WriteRefusal {
  readonly kind: Command['kind'];
  readonly message: string;
  /** Not asked for again before: the pauses grow. */
  readonly retryAt: number;
}

/** One of Kubernetes' lifecycle conditions as it stands on a Node, whoever wrote it. */
export interface LifecycleCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTransitionTime?: string | null | undefined;
}

export interface NodeView {
  readonly name: string;
  readonly uid: string;
  /** What its shadow is called. */
  readonly shadowName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: number;
  /** How many more nodes it counts for as a member of the fleet: those that a forecast leaves out. Absent = none. */
  readonly alike?: number;
  /** Bears the label that asks for updates. */
  readonly managed: boolean;
  /** Runs Bottlerocket, and it was not decided yet whether it is managed. */
  readonly joinable: boolean;
  /** Bears the annotation `hold`. */
  readonly held: boolean;
  readonly heldBy?: Asked | undefined;
  /** It is being deleted, or an autoscaler is about to remove its machine. */
  readonly leaving?: boolean;
  /** Who has asked for its update to come next, as that person wrote it; undefined where nobody has. */
  readonly askedBy?: string | undefined;
  /** The failure after which the node need not pause any longer: its `state_transition_failure_timestamp`. */
  readonly retryOf?: string | undefined;
  readonly unschedulable: boolean;
  /** Since when it is cordoned, or about to be removed: as the taint states, but not later than first seen. Undefined where it is neither. */
  readonly outAt?: number | undefined;
  /** When this process has seen it go not Ready, the last three times at most. */
  readonly unreadyAt?: readonly number[] | undefined;
  /** This process has seen it Ready. */
  readonly wasReady?: boolean;
  readonly ready: boolean;
  /** Conditions, besides those that a healthy node has, and taints: a policy may call it `unwell` by one. Absent = none. */
  readonly signs?: readonly string[] | undefined;
  readonly unwell?: string | undefined;
  /** By type, since when its other conditions are as they are, by the clock of who wrote them. Absent = none. */
  readonly conditionsAt?: Readonly<Record<string, number>>;
  /** Since when it is Ready, or not, as the cluster says. A time in the future, by another clock, counts as when the change was first seen. */
  readonly readyChangedAt: number;
  /** Since when this process has seen it Ready, or not. Blame counts by this clock alone. */
  readonly readinessSeenAt: number;
  /** The same, but what came before this process began counts as the cluster says: a proof goes on under a new leader. */
  readonly readyFrom: number;
  /** Hosts of the same variant and architecture are offered the same releases. */
  readonly family: string;
  /** The version that it runs by its kubelet, which also tells where the agent does not. */
  readonly version: string | undefined;
  readonly bootId: string | undefined;
  readonly marks: Marks | undefined;
  /** Bears our taint that sends evicted pods to nodes that are done. */
  readonly bearsWaiting?: boolean;
  /** The first operator's annotations, by key; undefined where there are none. Nothing is decided on them. */
  readonly firstOperator?: Readonly<Record<string, string>> | undefined;
  /** Kubernetes' lifecycle conditions on it, whoever wrote them; undefined where there are none. Nothing is decided on them. */
  readonly lifecycle?: readonly LifecycleCondition[] | undefined;
  /** What a release could not undo, because a newer version of the operator put it there. Nothing is decided on it. */
  readonly unreleased?: string | undefined;
}

export interface ShadowView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** UIDs of the Nodes that it belongs to: one, unless somebody has changed that. */
  readonly owners: readonly string[];
  readonly spec: Spec;
  readonly status: Status | undefined;
  /** This view is older than a write of our own that the API server has acknowledged. Nothing may be decided on it. */
  readonly stale: boolean;
  /** Since when an update is known to be offered; undefined where that is not known. */
  readonly offeredAt: number | undefined;
  /** Since when this process has seen spec and status in their states. */
  readonly stateSeenAt: number;
  /** Since when spec has been as it is: as it states, but not later than first seen. */
  readonly stepBeganAt: number;
  /** Since when this process has seen its drain with as many pods left; undefined while it has none. */
  readonly stalledSince?: number | undefined;
  /** When its pods were looked at ahead of its drain: as stated, but not later than first seen; undefined where they were not. */
  readonly lookedAt?: number | undefined;
  /** Since when this process has seen that a reboot was requested in this attempt; undefined where none was. */
  readonly rebootAskedAt: number | undefined;
  /** When its last attempt failed, and when its last update was finished, but not later than first seen; undefined where that is not known. */
  readonly failedAt: number | undefined;
  readonly finishedAt: number | undefined;
  /** Since when its host cannot look for updates, but not later than first seen; undefined where it can. */
  readonly cannotLookSince: number | undefined;
  /** Since when its condition `UpToDate` is True: as it states, but not later than it was first seen. Undefined where it is not True. */
  readonly upToDateSince: number | undefined;
  /** When this process saw its last update end, or what is stored of an earlier end; undefined where neither is known. */
  readonly endedAt: number | undefined;
  /** How long its last complete update took, and its reboot in that, milliseconds; undefined where that is not known. */
  readonly lastUpdateMs: number | undefined;
  readonly lastRebootMs?: number | undefined;
  /** What the node is named to prepare while it waits; undefined where nothing is. */
  readonly hint: Hint | undefined;
  /** For which drain its own was called off; undefined where that is over. */
  readonly crossed?: Crossed | undefined;
  /** Somebody has asked for the update that it is on, or was on last. */
  readonly isAskedFor?: boolean;
  /** Its last update was finished, or failed, as its machine joined: nobody pauses for that. */
  readonly movedNobody?: boolean;
  /** Names the attempt that was its last complete update; undefined where that is not known. */
  readonly lastAttempt?: string | undefined;
  /** The version that it ran before the one that it runs; undefined where that is not known. */
  readonly updatedFrom: string | undefined;
  /** Absent for a host that offers versions by itself. Otherwise the target of `status` is what this says. */
  readonly order?: HostOrder;
}

/** What a shadow said last. */
export interface LastOfShadow extends Pick<ShadowView, 'name' | 'owners' | 'spec' | 'status' | 'lastAttempt'> {
  readonly finishedAt?: number | undefined;
  /** As the shadow states it, where it was deleted. */
  readonly finishStatedAt?: number | undefined;
}

/** What a Node said last. */
export type LastOfNode = Pick<
  NodeView,
  'name' | 'uid' | 'family' | 'labels' | 'managed' | 'ready' | 'held' | 'leaving' | 'marks' | 'unschedulable'
>;

/** What a host that offers no versions by itself is ordered to run. The same object for as long as it says the same. */
export type HostOrder =
  | {
      readonly version: string;
      /** What keeps the host from starting on it, and what becomes of an update that has not disturbed it yet. */
      readonly stop: Stop | undefined;
      /** What the order says besides the version, as annotations of the shadow. */
      readonly annotations: Readonly<Record<string, string>>;
    }
  /** There is no version for it now. */
  | { readonly version: undefined; readonly stop: Stop; readonly annotations: undefined };

/** A node with what belongs to it (rule B4): no shadow of a former node of the same name, and none that names no owner. */
export interface NodeInfo {
  readonly node: NodeView;
  readonly shadow: ShadowView | undefined;
  /** There is a shadow of its name that names no owner. */
  readonly isShadowUnowned: boolean;
  /** Where an update stands on it. */
  readonly phase: Phase;
  readonly permit: PermitView | undefined;
  /** Since when no container of its agent runs; undefined while one does. */
  readonly silentSince: number | undefined;
}

/** Order of numbers, and of texts by their code units: the same everywhere, and fast. */
export function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : Number(a > b);
}
