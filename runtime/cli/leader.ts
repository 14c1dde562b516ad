import type { PermitView } from '../controller/plan/facts/permit.ts';
import type { Snapshot } from '../controller/plan/facts/snapshot.ts';
import { found, type Verdict } from '../controller/plan/facts/verdict.ts';
import type { Lease } from '../kube/objects.ts';
import { instantOf, MINUTE_MS, rfc3339 } from '../lib/clock.ts';
import { CONTROLLER_DEPLOYMENT, LEASE_REFUSED } from '../api/shadow/names.ts';
import { type Here, told } from './arguments.ts';
import type { Cluster } from './command.ts';
import { timeValue } from './output/output.ts';
import { byTime, momentsOfEvent } from './past/moments.ts';
import { about, readEvents } from './past/past.ts';
import type { Read } from './reading.ts';

/** No controller leads, so that nothing of a plan happens. */
export interface NoLeader {
  /** When the last one renewed the Lease, milliseconds since the Unix epoch; undefined where there was none. */
  readonly since: number | undefined;
  /** How many of the managed nodes that are Ready have no running agent, and how many there are. */
  readonly agentsMissing: number;
  readonly nodes: number;
  /** What the controllers that stand for election say of it; undefined where they say nothing. */
  readonly why: string | undefined;
}

/** The time was written by another machine, whose clock may differ from this one's; and a controller may have to start on another node. */
const TOLERATED_MS = 2 * MINUTE_MS;

/** @returns undefined where a controller leads, and where the user may not read the Lease */
export function noLeaderIn(lease: Read<Lease | undefined>, snapshot: Snapshot, now: number): NoLeader | undefined {
  if (lease.refused !== undefined) return undefined;
  const { renewTime, leaseDurationSeconds } = lease.value?.spec ?? {};
  const since = instantOf(renewTime);
  if (since !== undefined && now - since <= (leaseDurationSeconds ?? 0) * 1000 + TOLERATED_MS) return undefined;
  const ready = snapshot.nodes.filter((node) => node.managed && node.ready);
  const missing = ready.filter(({ name }) => snapshot.silentSince.has(name));
  return { since, agentsMissing: missing.length, nodes: ready.length, why: undefined };
}

/** The last Event that says why, unless somebody has led since. */
export async function whyNobodyLeads(cluster: Cluster, { since = -Infinity }: NoLeader): Promise<string | undefined> {
  const { events } = await readEvents(cluster, cluster.namespace, about('Deployment', CONTROLLER_DEPLOYMENT));
  const said = events.filter(({ reason }) => reason === LEASE_REFUSED).flatMap(momentsOfEvent);
  return byTime(said).findLast(({ at }) => at >= since)?.message;
}

/** It stays the same for as long as nothing changes. */
export function noLeaderText({ since, agentsMissing, nodes, why }: NoLeader): string {
  const led = [
    since === undefined ? 'no controller has led yet' : `no controller has led since ${rfc3339(since)}`,
    ...(why === undefined ? [] : [why]),
  ].join(': ');
  return agentsMissing === 0 ? led : `${led}, agents are missing on ${agentsMissing} of ${nodes} nodes`;
}

const REMEDY = 'Nothing starts or goes on: `kubectl brupop doctor` says more.';

export const noLeaderRemedy = (here: Here): string => told(REMEDY, here);

/** For commands that show a plan. */
export const noLeaderLines = (noLeader: NoLeader | undefined, here: Here): readonly string[] =>
  noLeader ? [`NEEDS YOU: ${noLeaderText(noLeader)}. ${noLeaderRemedy(here)}`] : [];

/** For programs; null where a controller leads, or that is not known. */
export const noLeaderValue = (noLeader: NoLeader | undefined): object | null =>
  noLeader ? { ...noLeader, since: timeValue(noLeader.since) ?? null } : null;

/** A plan says of nodes that it starts that they are being updated. That is so once the leader has given them a permit. */
export function withoutPermit(verdict: Verdict, permits: readonly PermitView[], uid: string | undefined): Verdict {
  if (verdict.reason !== 'Updating' || permits.some(({ nodeUid }) => nodeUid === uid)) return verdict;
  const { node, policy } = verdict;
  return { ...NO_PERMIT, node, ...(policy !== undefined && { policy }) };
}

const NO_PERMIT = found('WaitingForSlot', 'its turn has come, and no controller has given it a permit yet');
