import type { PolicyNodes } from '../../../api/policy/model.ts';
import type { InvalidPolicy } from '../../../api/policy/policy.ts';
import { attemptOf, nodesNamedIn, partsOf, type When } from '../facts/checks.ts';
import { type ConditionReport, dueDateOf, type DueDateKnown, type Late } from './due-dates.ts';
import type { Group } from '../groups/groups.ts';
import type { Dependencies, PassedOver } from '../groups/dependencies.ts';
import type { OsReleaseName } from '../facts/ledgers.ts';
import type { Halted, OsRelease } from '../releases/os-release.ts';
import { NEVER, nextAfter } from '../facts/requeue.ts';
import { PHASES } from '../facts/phase.ts';
import type { BrokenPolicy } from '../facts/policies.ts';
import { haltedBecause } from '../releases/halted.ts';
import { isStarting, type Starts } from '../gates/starts.ts';
import { listed } from '../facts/verdict.ts';

/** What the status of a policy's resource is made of. */
export interface PolicyReport {
  readonly name: string;
  readonly uid: string;
  /** Of the spec that all of this is about. */
  readonly generation: number;
  readonly nodes: PolicyNodes;
  /** Every release that a node it rules runs, waits for, is on its way to or has failed on; none where the policy cannot be obeyed. */
  readonly releases: readonly ReleaseReport[];
  readonly accepted: ConditionReport;
  readonly progressing: ConditionReport;
  readonly halted: ConditionReport;
  /** Whether a release will be late; undefined where the policy has no date. */
  readonly deadline: ConditionReport | undefined;
  readonly late: Late | undefined;
  /** Policies that it does not wait for, and of which family they have had no nodes for long. */
  readonly passedOver: readonly PassedOver[];
  /** When time alone changes something for its nodes, milliseconds since the Unix epoch; undefined = never. */
  readonly nextChangeAt: number | undefined;
}

export interface ReleaseReport extends OsReleaseName {
  /** Nodes wait for it, or are on their way to it. */
  readonly offered: boolean;
  /** Nodes are known to be on their way to it. */
  readonly underWay: boolean;
  /** Enough nodes run it and have been well for long enough, as of now. */
  readonly proven: boolean;
  /** Where a policy has it proven per value of a label: which, and for which values it is. */
  readonly provenFor?: { readonly label: string; readonly values: readonly string[] };
  /** How far it has widened, where nodes wait because it has come no further. */
  readonly widened?: Widened;
  /** It is proven, and no node waits for it or is on its way to it, as of now. */
  readonly complete: boolean;
  /** Nodes that have failed on it. */
  readonly failed: number;
  /** What its policy has checked on it that has a result. */
  readonly checked: readonly Checked[];
}

interface Widened {
  /** Nodes that may update to it at once, which are fewer than `maxConcurrent` says. */
  readonly atOnce: number;
  /** Nodes that have been well on it for the soak. */
  readonly well: number;
  readonly maxConcurrent: number | 'unlimited';
}

/** One check that is over. */
interface Checked {
  /** Names it among all of its release. */
  readonly key: string;
  readonly name: string;
  /** Undefined for one of the release itself. */
  readonly when?: When | undefined;
  /** Name of the node. */
  readonly node?: string | undefined;
  readonly attempt: string;
  readonly result: 'Passed' | 'Failed';
  readonly message: string;
}

/** What was decided on the nodes of all policies. */
interface Decided extends DueDateKnown {
  readonly dependencies: Dependencies;
  readonly halted: readonly Halted[];
  /** When time alone changes what becomes of updates that run. */
  readonly stopsAt: ReadonlyMap<Group | undefined, number>;
}

/** The report on the nodes that a policy rules; undefined for the policy of the variables, which has no status. */
export function reportOn(group: Group, decided: Decided): PolicyReport | undefined {
  const { view, rules, releases } = group;
  if (!view.resource || rules.name === undefined) return undefined;
  const { uid, generation } = view.resource;
  const { passed, changesAt: passesAt } = decided.dependencies.passedOver(group);
  const deadline = dueDateOf(group, decided);
  const nextChangeAt = nextAfter(group.now, [changesAt(group, decided), passesAt, deadline?.changesAt ?? NEVER]);
  const { nodes, active } = countOf(group);
  return {
    name: rules.name,
    uid,
    generation,
    nodes,
    releases: view.kind === 'broken' ? [] : releases.all.map((one) => underPolicy(one, group, decided.starts)),
    accepted: accepted(group),
    progressing: progressing(group, active, decided.starts),
    halted: haltedOf(decided.halted.filter(({ policy }) => policy === rules.name)),
    deadline: deadline?.condition,
    late: deadline?.late,
    passedOver: passed,
    nextChangeAt: nextChangeAt === NEVER ? undefined : nextChangeAt,
  };
}

/** The report on a policy whose selector or priority cannot be read: nothing but its faults. */
export function reportOnLost({ policy, resource }: BrokenPolicy): PolicyReport {
  const { uid, generation } = resource;
  const faults = invalid(policy);
  return {
    name: policy.name,
    uid,
    generation,
    nodes: { selected: 0, upToDate: 0, updating: 0, waiting: 0, failed: 0 },
    releases: [],
    accepted: faults,
    progressing: faults,
    halted: NOT_HALTED,
    deadline: undefined,
    late: undefined,
    passedOver: [],
    nextChangeAt: undefined,
  };
}

/** How releases do on the nodes that the variables rule. There is no other report on these. */
export function releasesUnderVariables(groups: readonly Group[]): readonly ReleaseReport[] {
  const group = groups.find(({ rules }) => rules.name === undefined);
  return group ? group.releases.all.map((one) => releaseOf(one, group)) : [];
}

/** The variables do not widen. */
function underPolicy(release: OsRelease, group: Group, starts: Starts): ReleaseReport {
  const widened = widenedTo(release, group, starts);
  return { ...releaseOf(release, group), ...(widened && { widened }) };
}

function widenedTo({ family, version, proof }: OsRelease, group: Group, { kept }: Starts): Widened | undefined {
  const { rules, members, capacity } = group;
  if (rules.proof.widen === undefined || proof.atOnce >= capacity) return undefined;
  const isWaitedFor = members.some(
    ({ at, node, offered }) => kept[at]?.finding.reason === 'Widening' && offered === version && node.family === family,
  );
  if (!isWaitedFor) return undefined;
  const maxConcurrent = rules.maxConcurrent.kind === 'unlimited' ? 'unlimited' : capacity;
  return { atOnce: proof.atOnce, well: proof.provers.well, maxConcurrent };
}

function releaseOf(release: OsRelease, { rules, members, now }: Group): ReleaseReport {
  const { per } = rules.proof;
  const { proven, provenFor: values } = release.proof;
  return {
    family: release.family,
    version: release.version,
    offered: release.wanted || release.isUnderWay,
    underWay: release.hasBegun,
    proven,
    ...(per !== undefined && values && { provenFor: { label: per, values } }),
    complete: release.completeAt <= now,
    failed: release.book.counted,
    checked: checkedOn(release, members),
  };
}

function checkedOn({ book: { checks } }: OsRelease, members: Group['members']): readonly Checked[] {
  const nodes = nodesNamedIn(checks, members);
  return Object.entries(checks).flatMap(([key, state]) => {
    const { result, message } = state;
    if (!result) return [];
    const { uid, when, name } = partsOf(key);
    const node = uid === undefined ? undefined : nodes.get(uid)?.node.name;
    return [{ key, name, when, node, attempt: attemptOf(state), result, message: message ?? '' }];
  });
}

function changesAt(group: Group, { starts, stopsAt }: Decided): number {
  const times = [starts.changesAt.get(group) ?? NEVER, stopsAt.get(group) ?? NEVER, releasesChangeAt(group)];
  for (const { health } of group.members) if (health.changesAt !== NEVER) times.push(health.changesAt);
  return nextAfter(group.now, times);
}

/** When time alone proves or completes a release. */
export function releasesChangeAt({ releases, now }: Group): number {
  const instants = releases.all.flatMap(({ proof, completeAt }) => [proof.changesAt, completeAt]);
  return nextAfter(now, instants);
}

/** How the nodes stand, and on how many an update runs: one that has failed by now runs until its agent is back at Idle. */
function countOf(group: Group): { readonly nodes: PolicyNodes; readonly active: number } {
  const counts = { upToDate: 0, updating: 0, waiting: 0, failed: 0 };
  let active = 0;
  for (const { standing, phase } of group.members) {
    if (standing) counts[standing] += 1;
    if (PHASES[phase.kind].isUnderWay) active += 1;
  }
  return { nodes: { selected: group.members.length, ...counts }, active };
}

const invalid = ({ faults }: InvalidPolicy): ConditionReport => ({
  status: 'False',
  reason: 'Invalid',
  message: faults.join('; '),
});

const NOT_HALTED: ConditionReport = { status: 'False', reason: 'NotHalted', message: 'no release is halted' };

function accepted({ view, against }: Group): ConditionReport {
  if (view.kind === 'broken') return invalid(view.policy);
  if (against) return { status: 'False', reason: 'DependencyCycle', message: against.message };
  return { status: 'True', reason: 'Accepted', message: 'the policy is obeyed' };
}

function progressing(group: Group, active: number, starts: Starts): ConditionReport {
  const { members } = group;
  const isUpdating = active > 0 || isStarting(starts, group);
  const nearest = starts.nearest.get(group);
  if (isUpdating) {
    const others = nearest ? `; others wait: ${nearest.message}` : '';
    return { status: 'True', reason: 'Updating', message: `nodes are being updated${others}` };
  }
  if (nearest) return { status: 'False', reason: nearest.reason, message: nearest.message };
  if (members.length === 0) return { status: 'False', reason: 'NoNodes', message: 'the policy rules no managed node' };
  return { status: 'False', reason: 'UpToDate', message: 'no node waits for an update' };
}

function haltedOf(those: readonly Halted[]): ConditionReport {
  if (those.length === 0) return NOT_HALTED;
  const names = those.map((one) => {
    const isFailed = one.failures > 0 ? `, ${one.failures} failed` : '';
    return `${haltedBecause(one, one.version)} (${one.family}${isFailed})`;
  });
  return { status: 'True', reason: 'RolloutHalted', message: listed(names) };
}
