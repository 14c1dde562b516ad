import { isInHands } from '../facts/node.ts';
import { rfc3339 } from '../../../lib/clock.ts';
import type { Failure } from '../../../api/release/model.ts';
import { nodeNameOf, shadowName } from '../../../api/shadow/names.ts';
import type { Fleet } from './health.ts';
import type { Ledgers, OsReleaseName } from '../facts/ledgers.ts';
import { isAtRest, isDrainOver, type LastHost } from '../facts/phase.ts';
import type { PermitKey, PermitView } from '../facts/permit.ts';
import type { Rulings } from '../facts/rulings.ts';
import type { LastOfNode, LastOfShadow, ShadowView, Snapshot } from '../facts/snapshot.ts';

/** What is known of nodes that are gone. */
export interface Gone {
  readonly snapshot: Pick<Snapshot, 'permits' | 'shadows' | 'deletedShadows' | 'deletedNodes'>;
  readonly rulings: Pick<Rulings, 'claims'>;
  readonly fleet: Pick<Fleet, 'unsettled'>;
  readonly ledgers: Pick<Ledgers, 'probationMs'>;
  readonly now: number;
}

/** A failure, with the node's UID and the release that is blamed. */
export interface FailureOn extends OsReleaseName {
  readonly uid: string;
  readonly failure: Failure;
}

/** Failures of nodes that are gone (rule F1): with a permit, or while they were not Ready soon after their update. */
export function failuresOfGone(known: Gone): readonly FailureOn[] {
  const { snapshot, fleet } = known;
  const { permits, deletedNodes = [] } = snapshot;
  // A node that has a permit is not settled.
  const there = new Set(permits.length === 0 ? [] : fleet.unsettled.map(({ node }) => node.uid));
  return [
    ...permits.filter(({ nodeUid }) => !there.has(nodeUid)).flatMap((permit) => withPermit(permit, known) ?? []),
    ...deletedNodes.flatMap((node) => soonAfterUpdate(node, known) ?? []),
  ];
}

function withPermit(permit: PermitView, { snapshot, now }: Gone): FailureOn | undefined {
  const { nodeUid: uid, id: attempt, policy, ended } = permit;
  const release = releaseOf(permit, snapshot);
  if (!release) return undefined;
  if (!ended && !mayBeAsked(permit, lastOf(permit, snapshot), lastOfNode(uid, snapshot))) return undefined;
  const node = nodeNameOf(permit.shadow) ?? permit.shadow;
  const failure = { node, policy: policy?.name ?? '', attempt, reason: ended ?? 'Gone', at: rfc3339(now) };
  return { ...release, uid, failure };
}

/** What the permit of a node that is gone was for. Of one that an older controller has held, the shadow and the Node tell. */
export function releaseOf(permit: PermitView, snapshot: Gone['snapshot']): OsReleaseName | undefined {
  const { nodeUid, version = lastOf(permit, snapshot)?.spec.version } = permit;
  const { family = lastOfNode(nodeUid, snapshot)?.family } = permit;
  return family === undefined || version == null ? undefined : { family, version };
}

function soonAfterUpdate(last: LastOfNode, { snapshot, rulings, ledgers, now }: Gone): FailureOn | undefined {
  const { name: node, uid, family } = last;
  const finished = wasLost(last) ? finishedBy(lastOf({ shadow: shadowName(node), nodeUid: uid }, snapshot)) : undefined;
  if (!finished) return undefined;
  const { version, at, attempt = `${uid} ${version} ${rfc3339(at)}` } = finished;
  const ruling = rulings.claims.of(last);
  if (at + ledgers.probationMs({ family, version }, ruling) <= now) return undefined;
  const failure = { node, policy: ruling.policy?.name ?? '', attempt, reason: 'Gone' as const, at: rfc3339(now) };
  return { family, version, uid, failure };
}

/** Of one that only a list shows to be gone it is not known how it went. */
const wasLost = (last: LastOfNode): boolean => !last.ready && last.managed && !isInHands(last);

interface Finished {
  readonly version: string;
  readonly at: number;
  readonly attempt: string | undefined;
}

/** The update that its node has finished and after which it was at rest. */
function finishedBy(shadow: LastOfShadow | undefined): Finished | undefined {
  const { spec, status, finishStatedAt, finishedAt: at = finishStatedAt, lastAttempt: attempt } = shadow ?? {};
  if (!spec || !status || at === undefined || !isAtRest({ spec, status })) return undefined;
  return { version: status.current_version, at, attempt };
}

/**
 * Whether a node that is gone may have been asked for its reboot. What is not known counts as asked: only its shadow tells that it was not, and where
 * its agent keeps no records, the Node besides.
 * @param shadow of that very node, as it is or as it was when it was deleted; undefined where neither is known
 * @param node as it was when it was deleted; undefined where that is not known
 */
export function mayBeAsked(
  { rebootAskedAt }: Pick<PermitView, 'rebootAskedAt'>,
  shadow: Pick<ShadowView, 'spec' | 'status'> | undefined,
  node: LastHost | undefined,
): boolean {
  if (rebootAskedAt !== undefined || !shadow?.status) return true;
  const { spec, status } = shadow;
  if (spec.state === 'Idle' || spec.state === 'StagedAndPerformedUpdate') return false;
  const { reboot, current_state: reached } = status;
  if (reached !== 'StagedAndPerformedUpdate') return true;
  // An agent that keeps records leaves a probe with what it has staged, so that one without a time says that none was asked for.
  return reboot ? reboot.requested_at != null : !node || isDrainOver(node);
}

/** Nothing ends a drain on a Node that is gone. */
export const lastOfNode = (uid: string, { deletedNodes }: Pick<Snapshot, 'deletedNodes'>): LastOfNode | undefined =>
  deletedNodes?.findLast((node) => node.uid === uid);

export function shadowOf(permit: PermitKey, { shadows }: Pick<Snapshot, 'shadows'>): ShadowView | undefined {
  return shadows.find((shadow) => isOf(permit, shadow));
}

/** What the shadow says, or said when it was deleted. */
export function lastOf(
  permit: PermitKey,
  snapshot: Pick<Snapshot, 'shadows' | 'deletedShadows'>,
): LastOfShadow | undefined {
  return shadowOf(permit, snapshot) ?? snapshot.deletedShadows?.findLast((shadow) => isOf(permit, shadow));
}

const isOf = ({ shadow, nodeUid }: PermitKey, { name, owners }: Pick<LastOfShadow, 'name' | 'owners'>): boolean =>
  name === shadow && owners.includes(nodeUid);
