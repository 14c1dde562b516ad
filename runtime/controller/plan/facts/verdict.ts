import { instantOf, rfc3339 } from '../../../lib/clock.ts';
import { isOfRoom, lackIn, refusalsIn } from '../../../api/shadow/drain.ts';
import type { Crossed } from '../../../api/shadow/crossed.ts';
import type { Status } from '../../../api/shadow/model.ts';
import type { Step } from './steps.ts';
import { isSetbackReason, type Reason, type SetbackReason } from './reasons.ts';

/** The one answer for a node. */
export interface Verdict {
  readonly node: string;
  /** The policy that rules it; absent where the controller's variables do. */
  readonly policy?: string;
  readonly reason: Reason;
  /** One sentence that stays the same for as long as the reason does: it is written to the cluster. */
  readonly message: string;
  /** What a person may want to know besides, and changes: the state that its shadow is in or wanted in, and the step of its update. */
  readonly step?: string;
  readonly phase?: Step;
  /** Since when the update makes no progress, milliseconds since the Unix epoch; 0 where that is not known. */
  readonly since?: number;
  /** When time alone may end it, milliseconds since the Unix epoch. */
  readonly until?: number;
  /** Place among those that wait for a permit, 1 = the next. */
  readonly position?: number;
  /** What a node that waits prepares meanwhile. */
  readonly ahead?: Ahead;
  /** It has just joined, and no pod comes to it before it is updated, for ten minutes at most. */
  readonly isArriving?: boolean;
  /** New pods go to other nodes where these have room (`preferUpdated`). */
  readonly isAvoided?: boolean;
  /** What its last drain has displaced, and was not back in time when its update ended. */
  readonly notBack?: string;
  /** For a node that has not begun its update yet: why it does not switch to the newer version that it is offered by now. */
  readonly newer?: Finding;
}

/** A version that a node prepares at rest (rule H1). */
export interface Ahead {
  readonly version: string;
  /** It is in the inactive partition. */
  readonly isStaged: boolean;
  /** Why it could not be prepared. */
  readonly error?: string;
}

/** Trouble of an update that only a person, or the node itself, can end. */
export type Setback = Verdict & { readonly reason: SetbackReason };

export const isSetback = (verdict: Verdict): verdict is Setback => isSetbackReason(verdict.reason);

/** A verdict before it is known for which node. */
export type Finding = Omit<Verdict, 'node' | 'policy'>;

/** The finding comes first: a copy that begins with it is several times as fast, and a plan makes one for each node. */
export const verdictOn = (node: string, finding: Finding, policy: string | undefined): Verdict =>
  policy === undefined ? { ...finding, node } : { ...finding, node, policy };

/** Why an update does not go on, and what becomes of it: `call-off` ends it, `wait` leaves its node where it is, with its permit. */
export interface Stop {
  readonly kind: 'call-off' | 'wait';
  readonly because: Finding;
  /** Where it ends a drain, for which other one. */
  readonly crossed?: Crossed;
}

export const found = (reason: Reason, message: string, until?: number): Finding => ({
  reason,
  message,
  ...(until !== undefined && { until }),
});

/** The node may start, but others come first. */
export const WAITING: Finding = found('WaitingForSlot', 'other nodes are being updated');

/** The node may start, but nodes that are not Ready use up the budget, and no running update will give any of it back. */
export const NOT_READY_FIRST: Finding = found(
  'WaitingForSlot',
  'nodes that are not Ready, or that others have out, take the permits',
);

/** An instant in a message: stable for as long as the instant is. */
export const atTime = (instant: number): string => rfc3339(instant);

/** From `status.drain`, which outlives the attempt that it is about. */
export function drainBlockedFinding(status: Pick<Status, 'drain'> | undefined): Finding {
  const { started_at, blocked_by = [] } = status?.drain ?? {};
  const since = instantOf(started_at);
  const refusals = refusalsIn(blocked_by);
  return {
    ...(refusals.length > 0 ? found('WriteRefused', listed(refusals)) : blockedBy(blocked_by)),
    ...(since !== undefined && { since }),
  };
}

/** From `status.preflight`, of a node that is still in service. */
export function preflightFinding({ status }: { readonly status: Pick<Status, 'preflight'> | undefined }): Finding {
  const { looked_at, blocked_by = [] } = status?.preflight ?? {};
  const since = instantOf(looked_at);
  return {
    ...found('DrainBlocked', `its drain would wait for ${listed(blocked_by)}`),
    ...(since !== undefined && { since }),
  };
}

function blockedBy(blocked_by: readonly string[]): Finding {
  if (isOfRoom(blocked_by)) return found('NoRoom', `there is no room for its pods elsewhere: ${lackIn(blocked_by)}`);
  return found('DrainBlocked', `the drain waits for ${listed(blocked_by)}`);
}

/** Some of the names, in order. */
export function listed(names: readonly string[], most = 3): string {
  const shown = names.toSorted().slice(0, most).join(', ');
  return names.length > most ? `${shown} and more` : shown;
}
