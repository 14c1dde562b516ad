import type { EventRecord } from '../../kube/event-recorder.ts';
import type { ObjectReference } from '../../kube/objects.ts';
import { WAITING_TAINT } from '../../api/marks/taints.ts';
import type { PolicyConditionType, PolicyStatus } from '../../api/policy/model.ts';
import { POLICY_API_VERSION, POLICY_KIND } from '../../api/policy/names.ts';
import { type Planned, type Statement, type Statements, topicOf } from './statements.ts';
import { nameOf, rolloutComplete, rolloutStarted } from './events.ts';
import type { OsReleaseName } from '../plan/facts/ledgers.ts';
import { ON_TIME } from '../plan/answer/due-dates.ts';
import type { PolicyReport, ReleaseReport } from '../plan/answer/report.ts';

/** What plans say of policies. Where the status of a policy says it already, this process or one before it has told people. */

/** One policy, and what was said before. */
interface Said {
  readonly report: PolicyReport;
  readonly status: PolicyStatus | undefined;
  readonly before: Statements;
  /** Names of the policies under which nodes are avoided by new pods. */
  readonly avoiding: ReadonlySet<string | undefined>;
}

export function policyStatements({ plan, snapshot }: Planned, before: Statements): readonly Statement[] {
  const statuses = new Map(snapshot.policies.map(({ resource }) => [resource?.uid, resource?.status]));
  const avoiding = new Set(plan.verdicts.flatMap(({ policy, isAvoided }) => (isAvoided ? [policy] : [])));
  return plan.policies.flatMap((report) => {
    const said = { report, status: statuses.get(report.uid), before, avoiding };
    const passed = report.passedOver.map((one) => passedOver(one, said));
    return [
      accepted(said),
      halted(said),
      ...deadline(said),
      preference(said),
      ...passed,
      ...report.releases.flatMap((release) => [...milestones(release, said), ...checks(release, said)]),
    ];
  });
}

function accepted(said: Said): Statement {
  const { status, message } = said.report.accepted;
  const last = conditionOf(said.status, 'Accepted');
  const isKnown = last?.status === status && (status === 'True' || last.message === message);
  const event: EventText = status === 'True' ? ['Normal', 'Accepted', message] : ['Warning', 'NotAccepted', message];
  return stated(said, { fact: 'accepted', value: status === 'True' ? status : message, isKnown, event });
}

/** That nothing is halted is only news where something was. */
function halted(said: Said): Statement {
  const { status, message } = said.report.halted;
  const isKnown = (conditionOf(said.status, 'Halted')?.status ?? 'False') === status;
  const event: EventText =
    status === 'True' ? ['Warning', 'RolloutHalted', message] : ['Normal', 'RolloutResumed', message];
  const statement = stated(said, { fact: 'halted', value: status, isKnown, event });
  return status === 'True' ? statement : { ...statement, follows: topicOf(statement) };
}

const AVOIDING = `new pods go to nodes that are done, where these have room: those that wait bear ${WAITING_TAINT.key}`;

/** What a process finds when it begins was told by the one before. */
function preference(said: Said): Statement {
  const isSo = said.avoiding.has(said.report.name);
  const event: EventText = isSo
    ? ['Normal', 'PreferringUpdated', AVOIDING]
    : ['Normal', 'PreferringNone', 'no node bears that taint any more'];
  const isKnown = !isSo || said.before.size === 0;
  return stated(said, { fact: 'preference', value: isSo ? 'so' : 'not', isKnown, event });
}

/** That a release will be late, and that none will be any more. By how much is in the condition. */
function deadline(said: Said): readonly Statement[] {
  const { status, message } = said.report.deadline ?? ON_TIME;
  const before = conditionOf(said.status, 'WillMissDeadline')?.status ?? 'False';
  const event: EventText = status === 'True' ? ['Warning', 'WillMissDeadline', message] : ['Normal', 'OnTime', message];
  const statement = stated(said, { fact: 'deadline', value: status, isKnown: before === status, event });
  if (said.report.deadline === undefined && !said.before.has(topicOf(statement))) return [];
  return [status === 'True' ? statement : { ...statement, follows: topicOf(statement) }];
}

function passedOver({ policy, family }: PolicyReport['passedOver'][number], said: Said): Statement {
  const message = `it does not wait for policy ${policy}, which has had no nodes of ${family} for seven days`;
  const event: EventText = ['Warning', 'PolicyPassedOver', message];
  const statement = stated(said, { fact: `passed over ${policy} ${family}`, value: 'so', isKnown: false, event });
  return withOccasion(statement, `passedover.${policy}.${family}`);
}

/** Each process gives it this one, so that a leader that does not know of its predecessor's Event makes no second one. */
function withOccasion(statement: Statement, words: string): Statement {
  const occasion = words.replaceAll(/[^a-z0-9.-]/g, '-');
  return { ...statement, event: { ...statement.event, occasion } };
}

/** Each milestone is reached once. One that was reached before the policy was made is not told: it was no rollout of this policy. */
function milestones(release: ReleaseReport, said: Said): readonly Statement[] {
  const name = nameOf(release);
  const last = said.status?.releases?.find((one) => nameOf(one) === name);
  if (!release.offered && last?.firstOfferedAt == null) return [];
  const proven = { fact: `proven ${name}`, event: ['Normal', 'ReleaseProven', `${name} is proven`] } as const;
  const complete = { fact: `complete ${name}`, event: textOf(rolloutComplete(referenceTo(said.report), name)) };
  const started = { fact: `started ${name}`, event: textOf(rolloutStarted(referenceTo(said.report), name)) };
  return [
    // For notifications alone, which remember what they have told: it has no Event, and the status does not say it.
    ...reached({ ...started, hasEvent: false, release }, { isSo: release.underWay, stampedAt: undefined }, said),
    ...reached({ ...proven, release }, { isSo: release.proven, stampedAt: last?.provenAt }, said),
    ...provenParts(release, said),
    ...widening(release, said),
    ...reached({ ...complete, release }, { isSo: release.complete, stampedAt: last?.completedAt }, said),
  ];
}

/** For which values of a label it is proven: the ledger keeps that, and the status does not. What a process finds when it begins was told before. */
function provenParts(release: ReleaseReport, said: Said): readonly Statement[] {
  const { label, values = [] } = release.provenFor ?? {};
  const name = nameOf(release);
  return values.map((value) => {
    const message = `${name} is proven where ${label} is ${value || 'absent'}`;
    const fact = `proven ${name} ${value}`;
    const isKnown = said.before.size === 0;
    return stated(said, { fact, value: 'reached', isKnown, event: ['Normal', 'ReleaseProven', message], release });
  });
}

/**
 * Told once, when it first keeps nodes waiting that `maxConcurrent` would let start. How far it has come since is in verdicts and in the condition
 * `Progressing`. What a process finds when it begins was told before.
 */
function widening({ widened, ...release }: ReleaseReport, said: Said): readonly Statement[] {
  const name = nameOf(release);
  const fact = `widening ${name}`;
  const earlier = said.before.get(topicOf({ kind: 'policy', of: `${said.report.uid} ${fact}` }));
  if (earlier) return [earlier];
  if (!widened) return [];
  const { atOnce, well, maxConcurrent } = widened;
  const message = `${name} goes to ${atOnce} at once, and to more as more nodes run it well (${well} now); maxConcurrent is ${maxConcurrent}`;
  const event: EventText = ['Normal', 'Widening', message];
  const isKnown = said.before.size === 0;
  const statement = stated(said, { fact, value: 'reached', isKnown, event, release });
  return [withOccasion(statement, `widening.${release.version}.${release.family}`)];
}

/** What a process finds when it begins was told by the one before. */
function checks(release: ReleaseReport, said: Said): readonly Statement[] {
  return release.checked.map(({ key, name, when, node, attempt, result, message }) => {
    const where = when === undefined ? '' : ` ${when} the update of ${node ?? 'a node'}`;
    const text = `${name}${where} to ${nameOf(release)}: ${message}`;
    const event: EventText = result === 'Passed' ? ['Normal', 'CheckPassed', text] : ['Warning', 'CheckFailed', text];
    const fact = `check ${nameOf(release)} ${key}`;
    return stated(said, { fact, value: `${result} ${attempt}`, isKnown: said.before.size === 0, event, release });
  });
}

/** A milestone that was reached stays so, also where a plan sees it no longer. */
function reached(
  milestone: Pick<Fact, 'fact' | 'event' | 'hasEvent' | 'release'>,
  { isSo, stampedAt }: { readonly isSo: boolean; readonly stampedAt: string | null | undefined },
  said: Said,
): readonly Statement[] {
  const isKnown = stampedAt != null;
  const statement = stated(said, { ...milestone, value: 'reached', isKnown });
  return isSo || isKnown || said.before.has(topicOf(statement)) ? [statement] : [];
}

/** Type, reason and message of an Event. */
type EventText = readonly [type: EventRecord['type'], reason: string, message: string];

const textOf = ({ type, reason, message }: EventRecord): EventText => [type, reason, message];

interface Fact {
  readonly fact: string;
  readonly value: string;
  /** The status says so already. */
  readonly isKnown: boolean;
  readonly event: EventText;
  /** @default true */
  readonly hasEvent?: boolean;
  readonly release?: OsReleaseName;
}

function stated({ report, before }: Said, { fact, value, isKnown, event, hasEvent = true, release }: Fact): Statement {
  const [type, reason, message] = event;
  const of = `${report.uid} ${fact}`;
  const record = { regarding: referenceTo(report), type, reason, message };
  const isRecorded = hasEvent && (!isKnown || before.has(topicOf({ kind: 'policy', of })));
  const about = { policy: report.name, ...(release && { family: release.family, version: release.version }) };
  return { kind: 'policy', of, value, event: record, isRecorded, isRepeated: true, about };
}

function conditionOf(status: PolicyStatus | undefined, type: PolicyConditionType) {
  return status?.conditions?.find((one) => one.type === type);
}

function referenceTo({ name, uid }: PolicyReport): ObjectReference {
  return { apiVersion: POLICY_API_VERSION, kind: POLICY_KIND, name, uid };
}
