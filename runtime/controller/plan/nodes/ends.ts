import { rfc3339 } from '../../../lib/clock.ts';
import { isStatedBadEnd } from '../../../api/release/ledger.ts';
import type { BadEnd, Failure } from '../../../api/release/model.ts';
import type { Status } from '../../../api/shadow/model.ts';
import { isInHands } from '../facts/node.ts';
import { isFailureUnrecorded, unaskedBootOf } from './blame.ts';
import { isFailedByPods } from './evidence.ts';
import type { AssessedNode } from './health.ts';
import type { PermitView } from '../facts/permit.ts';
import type { NodeInfo, ShadowView } from '../facts/snapshot.ts';

/** How an attempt ended that is put down to its release (rule F1). */
export interface End {
  readonly version: string;
  /** Names the attempt and no other. */
  readonly attempt: string;
  readonly reason: BadEnd;
}

/** The bad end that a node is at; undefined where it is at none, or the release is not to blame. */
export function badEndOf(info: AssessedNode): End | undefined {
  const { node, shadow, permit } = info;
  const noted = permit && notedOn(permit);
  if (noted) return noted;
  const end = node.managed && shadow?.status ? reasonOf(info, shadow, shadow.status) : undefined;
  if (!end || !shadow) return undefined;
  return { ...end, attempt: attemptOf(info, end.version, shadow) };
}

function attemptOf({ node, permit, phase }: NodeInfo, version: string, shadow: ShadowView): string {
  const finished = phase.kind === 'resting' ? shadow.lastAttempt : undefined;
  return permit?.id ?? finished ?? attemptWithoutPermit(node.uid, version, shadow);
}

const notedOn = ({ id: attempt, version, ended: reason }: PermitView): End | undefined =>
  reason && version !== undefined ? { version, attempt, reason } : undefined;

type Reason = Pick<End, 'version' | 'reason'>;

function reasonOf(info: AssessedNode, { spec }: ShadowView, status: Status): Reason | undefined {
  const { health, phase, permit } = info;
  if (health.notReturned && spec.version != null) return { version: spec.version, reason: 'NotReturned' };
  const seen = seenOf(info);
  if (seen) return { version: status.current_version, reason: seen };
  if (phase.kind === 'failed') return reportedOn(status, spec.version ?? '', permit !== undefined);
  const boot = phase.kind === 'resting' ? unaskedBootOf(info) : undefined;
  return boot && { version: boot.version, reason: boot.reason };
}

/** What is wrong with a node that runs the release, whatever its agent says. */
function seenOf(info: AssessedNode): BadEnd | undefined {
  const { isUnstable, soak, checks, settling } = info.health;
  if (isUnstable) return 'Unstable';
  // What befalls it after its update, by the hands of somebody, is told of, and blames nobody.
  if (soak === 'failed' && !(info.phase.kind === 'resting' && isInHands(info.node))) return 'SoakFailed';
  if (checks === 'failed') return 'CheckFailed';
  if (settling === 'failed' && soak === 'passed') return 'WorkloadsNotBack';
  return isFailedByPods(info) ? 'WorkloadsWorse' : undefined;
}

/** What its agent blames the release for. An older one says nothing of that, and one that is refused may name the version alone. */
function reportedOn(status: Status, version: string, hasPermit: boolean): Reason | undefined {
  const { last_failure: last } = status;
  if (isPresumed(status, version)) return { version, reason: 'BootFailed' };
  const isOfThis = last && (last.version ?? version) === version;
  if (!isOfThis || !isStatedBadEnd(last.reason)) return undefined;
  return last.reason !== 'PrepareFailed' || hasPermit ? { version, reason: last.reason } : undefined;
}

const isPresumed = (status: Status, version: string): boolean =>
  status.current_version !== version &&
  (isFailureUnrecorded(status) || (!status.last_failure && status.failed_versions?.includes(version) === true));

/** The attempt of a node that has no permit any more, or never had one of ours. */
export function attemptWithoutPermit(uid: string, version: string, { spec, status, finishedAt }: ShadowView): string {
  const { state_transition_failure_timestamp: failedAt } = status ?? {};
  const at = failedAt ?? spec.state_transition_timestamp ?? (finishedAt === undefined ? '' : rfc3339(finishedAt));
  return `${uid} ${version} ${at}`;
}

export const failureOf = ({ node, ruling }: AssessedNode, { attempt, reason }: End, now: number): Failure => ({
  node: node.name,
  policy: ruling.policy?.name ?? '',
  attempt,
  reason,
  at: rfc3339(now),
});

/** From when on a node at rest on a version takes its entry back: it has been Ready there for so long. */
export function recoveredAt({ node, shadow, phase, silentSince }: NodeInfo, version: string, forMs: number): number {
  const isThere = node.ready && silentSince === undefined && phase.kind === 'resting';
  if (!shadow || !isThere || shadow.status?.current_version !== version) return Infinity;
  return Math.max(node.readyFrom, shadow.finishedAt ?? shadow.stateSeenAt) + forMs;
}
