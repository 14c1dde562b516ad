import { type Reason, traitsOf, urgencyOf } from '../../controller/plan/facts/reasons.ts';
import type { ConditionReport } from '../../controller/plan/answer/due-dates.ts';
import type { Halted } from '../../controller/plan/releases/os-release.ts';
import type { PolicyView } from '../../controller/plan/facts/policies.ts';
import type { NodeView } from '../../controller/plan/facts/snapshot.ts';
import type { Verdict } from '../../controller/plan/facts/verdict.ts';
import { instantOf } from '../../lib/clock.ts';
import { compareSemver } from '../../api/shadow/semver.ts';
import type { Reach } from '../waves/turns.ts';
import { reachIn } from '../waves/waves.ts';
import type { Step } from '../../controller/plan/facts/steps.ts';
import type { Asked } from '../../api/shadow/asked.ts';
import { drainEndsAt, progressAt } from '../../api/shadow/drain.ts';
import type { Forecast } from '../forecast/forecast.ts';
import type { Inspection } from '../inspect.ts';
import type { NoLeader } from '../leader.ts';
import { missingText } from '../../controller/plan/nodes/settle.ts';
import { type Member, membersOf, type Standing, STANDINGS } from './members.ts';
import { type Pace, paceOf } from './pace.ts';

/** The whole fleet at one moment. */
export interface FleetStatus {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  readonly paused: boolean;
  /** Undefined where it is not, or that is not known. */
  readonly pausedBy?: Asked | undefined;
  readonly notKnown: readonly string[];
  /** Undefined where a controller leads, or that is not known. */
  readonly noLeader: NoLeader | undefined;
  readonly counts: Counts;
  /** Each with its zones, where its nodes are in several. The last one stands for nodes that no policy rules. */
  readonly policies: readonly PolicyStatus[];
  readonly families: readonly FamilyStatus[];
  readonly halted: readonly Halted[];
  /** How far the newest release of each family has come that not all of it run. */
  readonly reaches: readonly { readonly family: string; readonly version: string; readonly reach: Reach }[];
  /** Groups of nodes that wait for a person. */
  readonly needsYou: readonly Reasoned[];
  readonly updating: readonly Updating[];
  readonly waiting: readonly Reasoned[];
  readonly pace: Pace;
}

export type Counts = Readonly<Record<Standing, number>> & { readonly nodes: number };

export interface PolicyStatus {
  /** Undefined for the nodes that no policy rules. */
  readonly name: string | undefined;
  readonly counts: Counts;
  /** Messages of its conditions; undefined for the nodes that no policy rules. */
  readonly progressing: string | undefined;
  readonly halted: string | undefined;
  /** That a release will not be complete by its date. */
  readonly late: string | undefined;
  readonly zones: readonly { readonly name: string; readonly counts: Counts }[];
}

/** Nodes of one variant and architecture. */
export interface FamilyStatus {
  readonly name: string;
  readonly counts: Counts;
  /** Versions that its nodes run, and versions that they are offered. */
  readonly runs: readonly string[];
  readonly offered: readonly string[];
}

/** Nodes with the same verdict under the same policy. */
export interface Reasoned {
  readonly reason: Reason;
  readonly policy: string | undefined;
  readonly message: string;
  readonly nodes: readonly string[];
  /** How many of them have staged their update ahead. */
  readonly staged: number;
  /** How many of them new pods avoid. */
  readonly avoided: number;
  /** How many of them have just joined, and take no pods yet. */
  readonly arriving: number;
  /** The earliest times, milliseconds since the Unix epoch. */
  readonly since: number | undefined;
  readonly until: number | undefined;
}

export interface Updating {
  readonly node: string;
  readonly step: Step;
  readonly version: string | undefined;
  /** When its update began (from the Lease); undefined where that is not known. */
  readonly since: number | undefined;
  readonly podsLeft: number | undefined;
  readonly blockedBy: readonly string[];
  /** When its drain is given up, milliseconds since the Unix epoch; undefined where none runs or it never is. */
  readonly drainEndsAt?: number | undefined;
  /** Since when nobody reports the drain, milliseconds since the Unix epoch; undefined while somebody does. */
  readonly silentSince: number | undefined;
  /** When its reboot was requested, by the record on its shadow; undefined where none is under way, or that is not known. */
  readonly awaySince?: number | undefined;
  /** Whose work its drain lets finish, or which of the workloads that it has moved do not run again. */
  readonly waitsFor?: readonly string[];
}

/** @param members of `seen`, for a caller that has them already */
export function statusOf(seen: Inspection, forecast: Forecast, members = membersOf(seen)): FleetStatus {
  const { snapshot, plan, unknown, noLeader, now } = seen;
  const [troubled, idle] = [
    members.filter(isTroubled),
    members.filter((one) => WAITS.has(one.standing) && !isTroubled(one)),
  ];
  return {
    now,
    paused: snapshot.paused,
    pausedBy: snapshot.pausedBy,
    notKnown: unknown,
    noLeader,
    counts: countOf(members),
    policies: policiesOf(members, seen),
    families: familiesOf(members),
    halted: plan.halted,
    reaches: reachesOf(seen),
    needsYou: grouped(troubled),
    updating: members.flatMap((member) => (member.step ? updatingOf(member, member.step, seen) : [])),
    waiting: grouped(idle),
    pace: paceOf(members, { forecast, noLeader, now }),
  };
}

function reachesOf({ snapshot, now }: Inspection): FleetStatus['reaches'] {
  const families = Map.groupBy(snapshot.releases.objects, ({ family }) => family);
  return [...families].flatMap(([family, releases]) => {
    const { version } = releases.reduce((a, b) => (compareSemver(a.version, b.version) < 0 ? b : a));
    const reach = reachIn(snapshot, { family, version }, now);
    return reach ? { family, version, reach } : [];
  });
}

const isTroubled = ({ verdict: { reason } }: Member): boolean => traitsOf(reason).remedy !== undefined;

const WAITS: ReadonlySet<Standing> = new Set<Standing>(['waiting', 'failed']);

function countOf(members: readonly Member[]): Counts {
  const counts = Object.fromEntries(STANDINGS.map((standing) => [standing, 0])) as Record<Standing, number>;
  for (const { standing } of members) counts[standing] += 1;
  return { nodes: members.length, ...counts };
}

function policiesOf(members: readonly Member[], { snapshot, plan }: Inspection): readonly PolicyStatus[] {
  const ruled = Map.groupBy(members, ({ verdict }) => verdict.policy);
  return snapshot.policies.flatMap((view) => {
    const { policy } = view;
    const own = ruled.get(policy.name) ?? [];
    if (policy.name === undefined && own.length === 0) return [];
    const report = plan.policies.find(({ name }) => name === policy.name);
    return {
      name: policy.name,
      counts: countOf(own),
      progressing: report && (report.accepted.status === 'True' ? report.progressing : report.accepted).message,
      halted: ifTrue(report?.halted),
      late: ifTrue(report?.deadline),
      zones: zonesOf(own, view),
    };
  });
}

/** What a condition says that is only told of where it is so. */
const ifTrue = (condition: ConditionReport | undefined): string | undefined =>
  condition?.status === 'True' ? condition.message : undefined;

/** The label of a node's zone, unless its policy names another. */
const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** @param policy that rules the node */
export const zoneOf = ({ labels }: NodeView, policy: PolicyView | undefined): string | undefined =>
  labels[policy?.kind === 'valid' ? policy.policy.zones.key : ZONE_LABEL];

function zonesOf(members: readonly Member[], policy: PolicyView): PolicyStatus['zones'] {
  const zones = Map.groupBy(members, ({ info }) => zoneOf(info.node, policy));
  if (zones.size < 2) return [];
  const named = [...zones].map(([name = 'without a zone', those]) => ({ name, counts: countOf(those) }));
  return named.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function familiesOf(members: readonly Member[]): readonly FamilyStatus[] {
  const families = Map.groupBy(members, ({ info }) => info.node.family);
  const stated = [...families].map(([name, those]) => {
    const statuses = those.flatMap(({ info }) => info.shadow?.status ?? []);
    const versions = (of: (status: (typeof statuses)[number]) => string) => [...new Set(statuses.map(of))].toSorted();
    const [runs, offered] = [versions((one) => one.current_version), versions((one) => one.target_version)];
    return { name, counts: countOf(those), runs, offered };
  });
  return stated.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Messages that a reason is told with, each for its own nodes. Of more, the last one stands for all others. */
const MAX_MESSAGES = 5;

/** Groups by verdict, policy and message, the most urgent first. */
function grouped(members: readonly Member[]): readonly Reasoned[] {
  const groups = Map.groupBy(members, ({ verdict }) => `${verdict.reason} ${verdict.policy ?? ''}`);
  const said = [...groups.values()].flatMap((those) => byMessage(those.map(({ verdict }) => verdict)));
  return said.flatMap(reasoned).toSorted((a, b) => urgencyOf(a.reason) - urgencyOf(b.reason));
}

function byMessage(verdicts: readonly Verdict[]): readonly (readonly Verdict[])[] {
  const alike = [...Map.groupBy(verdicts, ({ message }) => message).values()];
  if (alike.length <= MAX_MESSAGES) return alike;
  const others = alike.slice(MAX_MESSAGES - 1).flat();
  return [...alike.slice(0, MAX_MESSAGES - 1), others.map((one) => Object.assign({}, one, { message: OTHERS_SAY }))];
}

const OTHERS_SAY = 'each for something else, as kubectl brupop why says';

function reasoned(verdicts: readonly Verdict[]): readonly Reasoned[] {
  const [first] = verdicts;
  if (!first) return [];
  const { reason, policy, message } = first;
  const since = earliest(verdicts.map((verdict) => verdict.since));
  const until = earliest(verdicts.map((verdict) => verdict.until));
  const staged = verdicts.filter(({ ahead }) => ahead?.isStaged).length;
  const arriving = verdicts.filter((one) => one.isArriving).length;
  const avoided = verdicts.filter(({ isAvoided }) => isAvoided).length;
  return [
    { reason, policy, message, nodes: verdicts.map(({ node }) => node), staged, avoided, arriving, since, until },
  ];
}

/** The earliest of the known times. */
function earliest(times: readonly (number | undefined)[]): number | undefined {
  let first = Infinity;
  for (const time of times) if (time !== undefined && time > 0 && time < first) first = time;
  return first === Infinity ? undefined : first;
}

function updatingOf(member: Member, step: Step, seen: Inspection): Updating {
  const { node, shadow, permit } = member.info;
  const { podsLeft, blockedBy, endsAt, silentSince } = drainOf(member, seen) ?? {};
  return {
    node: node.name,
    step,
    version: shadow?.spec.version ?? undefined,
    since: permit?.since,
    podsLeft,
    blockedBy: blockedBy ?? [],
    drainEndsAt: endsAt,
    silentSince,
    awaySince: awaySince(member),
    waitsFor: waitsFor(member, step),
  };
}

function waitsFor({ info: { shadow } }: Member, step: Step): readonly string[] {
  const { status } = shadow ?? {};
  if (step === 'finishing') return status?.drain?.waits_for ?? [];
  return step === 'settling' ? [missingText(status) ?? 'what its drain has moved'] : [];
}

/** When the reboot was requested that a node is away for. A record of another version is of an earlier attempt. */
export function awaySince({ info: { shadow }, step }: Member): number | undefined {
  const reboot = step === 'rebooting' ? shadow?.status?.reboot : undefined;
  return reboot?.version === shadow?.spec.version ? instantOf(reboot?.requested_at) : undefined;
}

/** What is known of the drain of a node; undefined where none runs. The pods of a node that is not cordoned are nobody's concern yet. */
export function drainOf(
  { info: { node, shadow, phase }, step }: Member,
  { config, now }: Pick<Inspection, 'config' | 'now'>,
) {
  const drain = step === 'draining' ? shadow?.status?.drain : undefined;
  if (!drain) return undefined;
  const startedAt = instantOf(drain.started_at);
  const progress = progressAt(drain, node.marks, now);
  if (progress.kind === 'silent') return { startedAt, podsLeft: undefined, blockedBy: [], silentSince: progress.since };
  if (phase.kind === 'asked') return { startedAt, blockedBy: drain.blocked_by };
  const endsAt = drainEndsAt(drain, config.DRAIN_TIMEOUT_MS);
  return { startedAt, podsLeft: drain.pods_left, blockedBy: drain.blocked_by, endsAt };
}
