import type { Crossed } from '../../../api/shadow/crossed.ts';
import type { LetFinish } from '../../../api/shadow/let-finish.ts';
import type { ShadowCondition, Spec, VersionWish } from '../../../api/shadow/model.ts';
import type { BadEnd } from '../../../api/release/model.ts';
import type { PermitKey, PermitTerms } from './permit.ts';
import type { LastHost } from './phase.ts';
import type { Finding } from './verdict.ts';

/** A write to make. It names the state that it was decided on. If that has changed, the write gets 409 and a new plan is made. */
export type Command =
  | SetSpec
  /** Leaves Idle, or changes the version: needs a permit, in the order of rule L1. */
  | Start
  | CallOff
  /** Makes sure that no earlier write can land on the shadow any more (rule L4). */
  | { readonly kind: 'bump'; readonly shadow: string; readonly nodeUid: string }
  | Free
  | NoteReboot
  | NoteEnd
  /** Releases marks at rest: on a node whose shadow is idle, or that has neither shadow nor agent (rule M8 a, b). */
  | { readonly kind: 'release'; readonly node: string; readonly shadow: string }
  /** Ends the update of a node whose agent is gone (rule M8 c). */
  | { readonly kind: 'rescue'; readonly node: string; readonly shadow: string }
  /** An administrator uncordoned the node: the cordon is no longer ours (rule M6). */
  | { readonly kind: 'disown'; readonly node: string }
  /** Labels the node for updates, unless a person has decided about it, and remembers that on the node. */
  | { readonly kind: 'adopt'; readonly node: string }
  /** Removes requests from the node: the update has begun, or there is none to begin (rule P9). */
  | { readonly kind: 'forget'; readonly node: string }
  | DeleteShadow
  | SetHint
  | SetWish
  | SetCondition;

/** A write to a shadow as it was when that was decided. */
interface OnShadow {
  /** Its name. */
  readonly shadow: string;
  readonly resourceVersion: string;
}

/** The node is no longer managed. */
export interface DeleteShadow extends OnShadow {
  readonly kind: 'delete-shadow';
  readonly uid: string;
}

/** Writes a spec that starts nothing. */
export interface SetSpec extends OnShadow {
  readonly kind: 'set-spec';
  readonly spec: Spec;
  /** Where it completes an update. */
  readonly completes?: Completion;
  /** What the shadow says besides where it ends one that has failed. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Where it asks for the drain, whose work that lets finish first. */
  readonly letFinish?: LetFinish | undefined;
}

export interface Completion {
  /** When the update began, milliseconds since the Unix epoch; undefined where that is not known. */
  readonly beganAt: number | undefined;
  /** How long its reboot took, milliseconds; undefined where that is not known. */
  readonly rebootMs?: number | undefined;
  /** Names the attempt: what becomes of the node later is put down to it. Undefined where it had no permit. */
  readonly attempt: string | undefined;
  /** What the node ran before; undefined where that is not known. */
  readonly versionBefore: string | undefined;
  /** Its machine has joined just now, and nobody's pods ran on it. */
  readonly movedNobody?: boolean;
  /** What its drain has moved, and does not run again in time; undefined where all does. */
  readonly notBack?: string | undefined;
}

export interface Start extends OnShadow, PermitKey, PermitTerms {
  readonly kind: 'start';
  readonly node: string;
  readonly spec: Spec;
  /** Who asked for it to come next, as that person wrote it. */
  readonly askedBy?: string;
  /** What the shadow says besides: what it ran, and what a host that is ordered what to run needs to know. Null takes away. */
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** Ends an update whose node has not been disturbed for it yet, or whose drain blocks another one. This is neither a start nor a failure. */
export interface CallOff {
  readonly kind: 'call-off';
  readonly node: string;
  readonly shadow: string;
  readonly spec: Spec;
  /** Why it may not go on. */
  readonly because: Finding;
  /** Where it ends a drain, for which other one. */
  readonly crossed?: Crossed | undefined;
}

/** Gives a permit back, in the order of rule L3. */
export interface Free extends PermitKey {
  readonly kind: 'free';
  /** Which clause of rule L3 holds. */
  readonly because: 'idle' | 'node-gone' | 'shadow-gone' | 'rescued' | 'called-off';
  /** Of a node that is gone only its shadow says that no reboot was asked for: it is read once more, and deleted first (rule F3). */
  readonly isUnasked?: true;
  /** The Node as it was deleted, where that is known: of an agent that keeps no records it tells whether the drain was over. */
  readonly lastNode?: LastHost | undefined;
}

/** Keeps on the Lease when the reboot of this attempt was first seen to be requested: a controller that restarts counts on from there. */
export interface NoteReboot extends PermitKey {
  readonly kind: 'note-reboot';
  /** Undefined where what is noted was another request, which the host did not carry out. */
  readonly rebootAskedAt: number | undefined;
}

/** Keeps on the Lease how the attempt has ended, where the ledger of its release refuses that (rule F4). */
export interface NoteEnd extends PermitKey {
  readonly kind: 'note-end';
  readonly ended: BadEnd;
}

/** Names the version that the node is to prepare at rest, or takes that back (rule H2). It starts nothing. */
export interface SetHint extends OnShadow {
  readonly kind: 'set-hint';
  readonly version: string | null;
}

/** Says what the host's settings are to be, or that nothing is wanted of them (rule P12). It starts nothing. */
export interface SetWish extends OnShadow {
  readonly kind: 'set-wish';
  readonly wish: VersionWish | null;
  /** What the shadow says besides from then on. Null takes away. */
  readonly annotations?: Readonly<Record<string, string | null>> | undefined;
}

export interface SetCondition extends OnShadow {
  readonly kind: 'set-condition';
  /** The whole list, others' conditions included: a merge patch replaces it. */
  readonly conditions: readonly ShadowCondition[];
}

/** Names of the shadows that these commands write to. A release writes to the Node alone, so the bump of a shadow need not wait for it. */
export function writtenShadows(writes: readonly Command[]): Set<string> {
  const toShadows = writes.filter(({ kind }) => kind !== 'release');
  return new Set(toShadows.flatMap((command) => ('shadow' in command ? [command.shadow] : [])));
}
