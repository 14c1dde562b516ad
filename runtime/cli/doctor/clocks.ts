import { durationText, instantOf } from '../../lib/clock.ts';
import type { Lease } from '../../kube/objects.ts';
import { CONTROLLER_DEPLOYMENT, EVENTS_REFUSED_ANNOTATION } from '../../api/shadow/names.ts';
import type { Facts } from './facts.ts';
import { type DoctorFinding, namesText, ok, problem, unknown } from './finding.ts';

/** Differences of clocks that do no harm, and the longest age of a Lease that a kubelet renews every ten seconds. Milliseconds. */
const TOLERATED_MS = 30_000;
const RENEWED_MS = 40_000;

/** Checks which controller leads, and whether it still renews its Lease. */
export function leaderFindings({ lease, seen }: Facts, now: number): readonly DoctorFinding[] {
  if (lease.refused !== undefined) return [unknown('leader', `you may not read the Lease (${lease.refused})`)];
  const refused = lease.value?.metadata.annotations?.[EVENTS_REFUSED_ANNOTATION];
  const events =
    refused === undefined ? [] : [problem('events', `the controller's Events are refused ${refused}`, EVENTS)];
  const { why } = seen.noLeader ?? {};
  return [...(why === undefined ? whoLeads(lease.value, now) : [problem('leader', why, REFUSED)]), ...events];
}

function whoLeads(lease: Lease | undefined, now: number): readonly DoctorFinding[] {
  const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = lease?.spec ?? {};
  if (!holderIdentity) return [problem('leader', 'no controller leads', LEADER)];
  const silentMs = now - (instantOf(renewTime) ?? -Infinity);
  if (silentMs > leaseDurationSeconds * 1000 + TOLERATED_MS)
    return [problem('leader', `${holderIdentity} leads, and was last heard of ${durationText(silentMs)} ago`, LEADER)];
  return [ok('leader', `${holderIdentity} leads`)];
}

const REFUSED = 'Look at what the message names: a policy, webhook, quota or right. Nothing starts meanwhile.';
const EVENTS = 'Look at what the message names. Verdicts, conditions and metrics say the same meanwhile.';
const LEADER = `Nothing starts meanwhile: \`kubectl logs deployment/${CONTROLLER_DEPLOYMENT}\` says more.`;

/** Compares the clock of this machine, and those of nodes, with the API server's. Kubelets write their time into their Leases. */
export function clockFindings({ serverTime, nodeLeases, seen }: Facts, now: number): readonly DoctorFinding[] {
  return [...ownClockFindings(serverTime, now), nodeClocks({ nodeLeases, seen }, serverTime ?? now)];
}

/** @param serverTime undefined where the API server does not tell */
export const ownClockFindings = (serverTime: number | undefined, now: number): readonly DoctorFinding[] =>
  serverTime === undefined ? [] : [ownClock(now - serverTime)];

function ownClock(aheadMs: number): DoctorFinding {
  const says = `this machine's clock is ${durationText(Math.abs(aheadMs))} ${aheadMs < 0 ? 'behind' : 'ahead of'} the API server's`;
  if (Math.abs(aheadMs) <= TOLERATED_MS) return ok('clocks', "this machine's clock is that of the API server");
  return problem('clocks', says, 'Set the clock: times that kubectl brupop shows are wrong by as much.');
}

function nodeClocks({ nodeLeases, seen }: Pick<Facts, 'nodeLeases' | 'seen'>, now: number): DoctorFinding {
  if (nodeLeases.refused !== undefined)
    return unknown('clocks', `you may not list the Leases of kubelets (${nodeLeases.refused})`);
  const ready = new Set(seen.snapshot.nodes.filter((node) => node.ready && node.managed).map(({ name }) => name));
  const off = nodeLeases.value
    .filter(({ metadata }) => ready.has(metadata.name))
    .flatMap(({ metadata, spec }) => {
      const behindMs = now - (instantOf(spec?.renewTime) ?? now);
      const isOff = behindMs > RENEWED_MS + TOLERATED_MS || behindMs < -TOLERATED_MS;
      return isOff
        ? [`${metadata.name} (${durationText(Math.abs(behindMs))} ${behindMs < 0 ? 'ahead' : 'behind'})`]
        : [];
    });
  if (off.length === 0) return ok('clocks', 'the clocks of nodes that are Ready differ by seconds at most');
  return problem('clocks', `clocks of nodes differ, or their kubelets are late: ${namesText(off)}`, CHRONY);
}

const CHRONY = "Check settings.ntp of the hosts. Decisions that use the hosts' times are late by as much.";
