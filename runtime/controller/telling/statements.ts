import type { EventRecord } from '../../kube/event-recorder.ts';
import type { ObjectReference } from '../../kube/objects.ts';
import { UNREADABLE } from '../../api/marks/marks.ts';
import type { Spec } from '../../api/shadow/model.ts';
import {
  agentMissing,
  lastFailure,
  marksUnreadable,
  type SentCommand,
  nameOf,
  rolloutComplete,
  rolloutHalted,
  rolloutResumed,
  rolloutStarted,
  setback,
  standstill,
  warningGiven,
  windowTriggered,
  windowTurned,
} from './events.ts';
import { newlyPublished } from './published.ts';
import { conditionUpToDate } from '../plan/facts/conditions.ts';
import { phaseOf } from '../plan/facts/phase.ts';
import type { Plan } from '../plan/plan.ts';
import { needsRescue } from '../plan/nodes/recovery.ts';
import { isReason, OF_FLEET, type SetbackReason } from '../plan/facts/reasons.ts';
import type { OsReleaseName } from '../plan/facts/ledgers.ts';
import { type Snapshot, variablesOf } from '../plan/facts/snapshot.ts';
import { isSetback, type Verdict } from '../plan/facts/verdict.ts';

/**
 * What plans say of nodes, of policies and of the fleet. People are told of a statement once, when it becomes true: by an Event, and by
 * notifications, which remember what they have told for longer than a process lives.
 */

/** Something that holds, of a node, a policy or the fleet. */
export type Statement = {
  /** What the statement is about: a version, a reason, the UID of a node, or the UID of a policy and a word for what of it. */
  readonly of: string;
  /** What people are told. */
  readonly event: EventRecord;
  /** Whether the Event is recorded. The cluster may have it already, and some statements have none. */
  readonly isRecorded: boolean;
  /** People are told this only where they were told of that topic before: an end of a halt is no news to those who never heard of the halt. */
  readonly follows?: string;
  readonly about?: About;
  /** An Event that the API server did not take is recorded with a later plan, if the statement still holds. Otherwise its moment has passed. */
  readonly isRepeated: boolean;
} & (
  | { readonly kind: 'setback'; readonly value: SetbackReason }
  | {
      readonly kind:
        'agent' | 'fleet' | 'failure' | 'published' | 'release' | 'rollout' | 'window' | 'warning' | 'policy';
      readonly value: string;
    }
);

/** What a statement is about, by name. */
interface About extends Partial<OsReleaseName> {
  readonly node?: string;
  /** Absent where the controller's variables rule. */
  readonly policy?: string;
}

/** By topic. */
export type Statements = ReadonlyMap<string, Statement>;

/** There is at most one statement of each kind about one thing. */
export const topicOf = ({ kind, of }: Pick<Statement, 'kind' | 'of'>): string => `${kind} ${of}`;

/** What is new, or has another value than before. */
export function diff(before: Statements, after: Statements): readonly Statement[] {
  return [...after].filter(([key, { value }]) => before.get(key)?.value !== value).map(([, statement]) => statement);
}

/** What a plan was made of, and the plan. */
export interface Planned {
  readonly plan: Pick<
    Plan,
    'commands' | 'verdicts' | 'halted' | 'offered' | 'warnings' | 'policies' | 'releases' | 'ledger'
  >;
  readonly snapshot: Pick<Snapshot, 'nodes' | 'shadows' | 'silentSince' | 'policies'>;
  /** The controller's, which Events of the fleet are about. */
  readonly lease: ObjectReference;
  /** The operator's own. */
  readonly namespace: string;
  /** An agent that has not been there since then is missed, milliseconds since the Unix epoch. */
  readonly missedSince: number;
}

/** Everything that holds of nodes and of the fleet by this plan. */
export function statementsOf(planned: Planned, before: Statements): Statements {
  const statements = [
    ...setbacks(planned),
    ...missingAgents(planned, before),
    ...standstills(planned),
    ...[...before.values()].filter(({ kind }) => kind === 'published'),
    ...newlyPublished(planned.plan, planned.lease),
    ...releases(planned, before),
    windowStatement(planned, before),
    ...warnings(planned),
    ...unreadableMarks(planned),
  ];
  return byTopic(statements);
}

/** Statements for notifications alone: they have no Event, or have it at another moment. */
export function notifiedOf(planned: Planned, before: Statements): Statements {
  return byTopic([...rollouts(planned, before), ...failures(planned)]);
}

export function byTopic(statements: readonly Statement[]): Statements {
  return new Map(statements.map((statement) => [topicOf(statement), statement]));
}

/** Nodes that did not come back well from their update. */
function setbacks({ plan: { verdicts }, snapshot, namespace }: Planned): readonly Statement[] {
  const set = verdicts.filter(isSetback);
  if (set.length === 0) return [];
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node]));
  const shadows = new Map(snapshot.shadows.map((shadow) => [shadow.name, shadow]));
  return set.flatMap((verdict) => {
    const node = nodes.get(verdict.node);
    const shadow = node && shadows.get(node.shadowName);
    if (!shadow) return [];
    // The condition says it already, so this process or one before it has recorded the Event.
    const isKnown = conditionUpToDate(shadow.status)?.reason === verdict.reason;
    const event = setback({ verdict, node, shadow }, namespace);
    const about = aboutNode(
      verdict,
      shadow.spec.version ?? shadow.status?.finished?.version ?? shadow.status?.last_failure?.version,
    );
    return {
      kind: 'setback',
      of: node.uid,
      value: verdict.reason,
      event,
      isRecorded: !isKnown,
      isRepeated: false,
      about,
    };
  });
}

/** Missing agents. Each Node has one such statement, however often its agent comes and goes. */
function missingAgents(
  { plan: { verdicts }, snapshot, missedSince }: Planned,
  before: Statements,
): readonly Statement[] {
  const missing = new Map(verdicts.filter(({ reason }) => reason === 'AgentMissing').map((one) => [one.node, one]));
  const said = new Map([...before.values()].filter(({ kind }) => kind === 'agent').map((one) => [one.of, one]));
  if (missing.size + said.size === 0) return [];
  const isMissed = (name: string): boolean =>
    missing.has(name) && (snapshot.silentSince.get(name) ?? Infinity) <= missedSince;
  return snapshot.nodes.flatMap((node) => {
    const verdict = missing.get(node.name);
    if (said.has(node.uid) || !verdict || !isMissed(node.name)) return said.get(node.uid) ?? [];
    const told = { event: agentMissing(node), isRecorded: true, isRepeated: true, about: aboutNode(verdict) };
    return { kind: 'agent', of: node.uid, value: 'missing', ...told };
  });
}

/** What keeps the whole fleet from updates. That it does not is remembered as well, so that people are told when it does again. */
function standstills({ plan: { verdicts }, lease }: Planned): readonly Statement[] {
  return OF_FLEET.map((reason) => {
    const said = verdicts.find((verdict) => verdict.reason === reason);
    const value = said ? 'stands' : 'over';
    const event = standstill(lease, { reason, message: said?.message ?? '' });
    return { kind: 'fleet', of: reason, value, event, isRecorded: said !== undefined, isRepeated: true };
  });
}

/** Nodes whose last attempt failed. Their Events are recorded as the attempts are taken back. */
function failures({ plan: { verdicts }, snapshot, namespace }: Planned): readonly Statement[] {
  const failed = snapshot.shadows.filter(({ status }) => status !== undefined && status.crash_count > 0);
  if (failed.length === 0) return [];
  const nodes = new Map(snapshot.nodes.map((node) => [node.shadowName, node]));
  const judged = new Map(verdicts.map((verdict) => [verdict.node, verdict]));
  return failed.flatMap((shadow) => {
    const node = nodes.get(shadow.name);
    const verdict = node && judged.get(node.name);
    const event = lastFailure(shadow, namespace);
    if (!verdict || !event || !shadow.owners.includes(node.uid)) return [];
    const value = shadow.status?.state_transition_failure_timestamp ?? String(shadow.status?.crash_count);
    const about = aboutNode(verdict, shadow.spec.version);
    return { kind: 'failure', of: node.uid, value, event, isRecorded: false, isRepeated: false, about };
  });
}

function aboutNode({ node, policy }: Verdict, version?: string | null): About {
  return { node, ...(policy !== undefined && { policy }), ...(version != null && { version }) };
}

/**
 * Rollouts on the nodes that the variables rule; a policy tells of its own. A rollout starts when the first node is on its way, and only one
 * that has started is told complete.
 */
function rollouts({ plan, lease }: Planned, before: Statements): readonly Statement[] {
  return plan.releases.flatMap((release): Statement[] => {
    const name = nameOf(release);
    const [started, complete] = [`${name} started`, `${name} complete`];
    const common = { kind: 'rollout', value: 'reached', isRecorded: false, isRepeated: false } as const;
    const about = { family: release.family, version: release.version };
    const has = (of: string): boolean => before.has(topicOf({ kind: 'rollout', of }));
    const follows = topicOf({ kind: 'rollout', of: started });
    return [
      ...(release.underWay || has(started)
        ? [{ ...common, of: started, event: rolloutStarted(lease, name), about }]
        : []),
      ...(release.complete || has(complete)
        ? [{ ...common, of: complete, event: rolloutComplete(lease, name), follows, about }]
        : []),
    ];
  });
}

/**
 * Halted releases on the nodes that the variables rule; a policy tells of its own. A halted version that no node is offered any more stays
 * halted: no node may start on it, and none would.
 */
function releases({ plan, lease }: Planned, before: Statements): readonly Statement[] {
  const halted = new Map(
    plan.halted.filter(({ policy }) => policy === undefined).map((release) => [nameOf(release), release]),
  );
  const earlier = [...before.values()].filter(({ kind, value }) => kind === 'release' && value === HALTED);
  const offered = plan.offered.filter(({ policy }) => policy === undefined);
  const now = offered.map(({ family, version }): Statement => {
    const of = nameOf({ family, version });
    const common = { kind: 'release', isRepeated: true, about: { family, version } } as const;
    const release = halted.get(of);
    const topic = topicOf({ kind: 'release', of });
    return release
      ? Object.assign({ of, value: HALTED, event: rolloutHalted(lease, release), isRecorded: true }, common)
      : Object.assign(
          { of, value: 'open', event: rolloutResumed(lease, of), isRecorded: before.has(topic), follows: topic },
          common,
        );
  });
  // Offered releases come last, so that they replace what was said of them before.
  return [...earlier, ...now];
}

const HALTED = 'halted';

/** The first known state of the window is no change, so no Event is recorded for it. */
function windowStatement({ snapshot, lease }: Planned, before: Statements): Statement {
  const { open, triggeredAt } = variablesOf(snapshot).window;
  const event = triggeredAt === undefined ? windowTurned(lease, open) : windowTriggered(lease);
  return {
    kind: 'window',
    of: 'schedule',
    value: String(triggeredAt ?? open),
    event,
    isRecorded: before.has('window schedule'),
    isRepeated: false,
  };
}

function warnings({ plan, lease }: Planned): readonly Statement[] {
  return plan.warnings.map((warning) => {
    const event = warningGiven(lease, warning);
    return { kind: 'warning', of: warning.reason, value: 'given', event, isRecorded: true, isRepeated: true };
  });
}

function unreadableMarks({ snapshot }: Planned): readonly Statement[] {
  const told = snapshot.nodes.filter(({ marks, unreleased }) =>
    (marks?.unknown ?? unreleased?.split(', '))?.includes(UNREADABLE),
  );
  return told.map((node) => {
    const event = marksUnreadable(node);
    return { kind: 'warning', of: `marks ${node.uid}`, value: 'given', event, isRecorded: true, isRepeated: true };
  });
}

/**
 * Whether the cluster shows by now that a command without an answer was carried out; undefined while it shows nothing.
 * - A spec is written on the resourceVersion that it was decided on, or never.
 * - A rescue leaves nothing of itself to do. On a node without an agent only the controller can have done it.
 */
export function hasLanded({ command, shadow }: SentCommand, { plan, snapshot }: Planned): boolean | undefined {
  const now = snapshot.shadows.find(({ name }) => name === shadow.name);
  if (command.kind === 'rescue') {
    const node = snapshot.nodes.find(({ name }) => name === command.node);
    if (node && now && needsRescue({ node, phase: phaseOf(now, node) }, now)) return undefined;
    return plan.verdicts.some((verdict) => verdict.node === command.node && isReason(verdict.reason, 'agentless'));
  }
  if (now?.resourceVersion === shadow.resourceVersion) return undefined;
  return now !== undefined && isSameSpec(command.spec, now.spec);
}

function isSameSpec(written: Spec, seen: Spec): boolean {
  const fields = ['state', 'version', 'state_transition_timestamp'] as const;
  return fields.every((field) => (written[field] ?? null) === (seen[field] ?? null));
}
