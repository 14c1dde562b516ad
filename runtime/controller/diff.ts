import type { EventRecord } from '../kube/event-recorder.ts';
import type { ObjectReference } from '../kube/objects.ts';
import type { Spec } from '../shadow/model.ts';
import {
  agentMissing,
  type SentCommand,
  nameOf,
  rolloutHalted,
  rolloutResumed,
  setback,
  warningGiven,
  windowTriggered,
  windowTurned,
} from './events.ts';
import { upToDate } from './plan/conditions.ts';
import type { Plan } from './plan/plan.ts';
import { type Snapshot, variablesOf } from './plan/snapshot.ts';
import { isSetback, type Setback } from './plan/verdict.ts';

/** What plans say of nodes, of policies and of the fleet. People are told of a statement when it becomes true, and not for as long as it is true. */

/** Something that holds, of a node, a policy or the fleet. */
export type Statement = {
  /** A version, a reason, the UID of a node, or that of a policy and what of it. */
  readonly of: string;
  /** Undefined where people know of it already. */
  readonly event: EventRecord | undefined;
  /** An Event that the API server did not take is recorded with a later plan, if the statement still holds. Otherwise its moment has passed. */
  readonly isRepeated: boolean;
} & (
  | { readonly kind: 'setback'; readonly value: Setback['reason'] }
  | { readonly kind: 'agent' | 'release' | 'window' | 'warning' | 'policy'; readonly value: string }
);

/** By topic. */
export type Statements = ReadonlyMap<string, Statement>;

/** There is at most one statement of each kind about one thing. */
export const topicOf = (statement: Statement): string => `${statement.kind} ${statement.of}`;

/** What is new, or has another value than before. */
export function diff(before: Statements, after: Statements): readonly Statement[] {
  return [...after].filter(([key, { value }]) => before.get(key)?.value !== value).map(([, statement]) => statement);
}

/** What a plan was made of, and the plan. */
export interface Planned {
  readonly plan: Pick<Plan, 'commands' | 'verdicts' | 'halted' | 'offered' | 'warnings' | 'policies'>;
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
    ...releases(planned, before),
    windowStatement(planned, before),
    ...warnings(planned),
  ];
  return byTopic(statements);
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
    const isKnown = upToDate(shadow.status)?.reason === verdict.reason;
    const event = isKnown ? undefined : setback({ verdict, node, shadow }, namespace);
    return { kind: 'setback', of: node.uid, value: verdict.reason, event, isRepeated: false };
  });
}

/** Said once of each Node, however often its agent comes and goes. */
function missingAgents(
  { plan: { verdicts }, snapshot, missedSince }: Planned,
  before: Statements,
): readonly Statement[] {
  const missing = new Set(verdicts.filter(({ reason }) => reason === 'AgentMissing').map(({ node }) => node));
  const said = new Map([...before.values()].filter(({ kind }) => kind === 'agent').map((one) => [one.of, one]));
  if (missing.size + said.size === 0) return [];
  const isMissed = (name: string): boolean =>
    missing.has(name) && (snapshot.silentSince.get(name) ?? Infinity) <= missedSince;
  return snapshot.nodes.flatMap((node) => {
    const isNew = !said.has(node.uid) && isMissed(node.name);
    if (!isNew) return said.get(node.uid) ?? [];
    return { kind: 'agent', of: node.uid, value: 'missing', event: agentMissing(node), isRepeated: true };
  });
}

/**
 * Those of nodes that the variables rule; a policy tells of its own. A halted version that nobody is offered any more stays as it was:
 * nobody may start on it, and nobody would.
 */
function releases({ plan, lease }: Planned, before: Statements): readonly Statement[] {
  const halted = plan.halted.filter(({ policy }) => policy === undefined);
  const isOffered = new Set(plan.offered.filter(({ policy }) => policy === undefined).map(nameOf));
  const stated = [...before.values()].filter(({ kind }) => kind === 'release');
  const earlier = stated.map((said): Statement => {
    if (said.value === RESUMED || !isOffered.has(said.of)) return said;
    const event = rolloutResumed(lease, said.of);
    return { kind: 'release', of: said.of, value: RESUMED, event, isRepeated: true };
  });
  // Those that are halted now come last, and so replace what was said of them before.
  return [
    ...earlier,
    ...halted.map((release): Statement => {
      const event = rolloutHalted(lease, release);
      return { kind: 'release', of: nameOf(release), value: 'halted', event, isRepeated: true };
    }),
  ];
}

const RESUMED = 'resumed';

/** The first known state of the window is no change, so it has no Event. */
function windowStatement({ snapshot, lease }: Planned, before: Statements): Statement {
  const { open, triggeredAt } = variablesOf(snapshot).window;
  const event = triggeredAt === undefined ? windowTurned(lease, open) : windowTriggered(lease);
  return {
    kind: 'window',
    of: 'schedule',
    value: String(triggeredAt ?? open),
    event: before.has('window schedule') ? event : undefined,
    isRepeated: false,
  };
}

function warnings({ plan, lease }: Planned): readonly Statement[] {
  return plan.warnings.map((warning) => {
    const event = warningGiven(lease, warning);
    return { kind: 'warning', of: warning.reason, value: 'given', event, isRepeated: true };
  });
}

/**
 * Whether the cluster shows by now that a command without an answer was carried out; undefined while it shows nothing. A spec lands on the
 * resourceVersion that it was decided on, or never. A rescue is planned again until nothing of it is left, and on a node without an agent
 * nobody else can have done it.
 */
export function hasLanded({ command, shadow }: SentCommand, { plan, snapshot }: Planned): boolean | undefined {
  if (command.kind === 'rescue') {
    const isDue = plan.commands.some((due) => due.kind === 'rescue' && due.node === command.node);
    if (isDue) return undefined;
    return plan.verdicts.some(({ node, reason }) => node === command.node && reason === 'AgentSilent');
  }
  const now = snapshot.shadows.find(({ name }) => name === shadow.name);
  if (now?.resourceVersion === shadow.resourceVersion) return undefined;
  return now !== undefined && isSameSpec(command.spec, now.spec);
}

function isSameSpec(written: Spec, seen: Spec): boolean {
  const fields = ['state', 'version', 'state_transition_timestamp'] as const;
  return fields.every((field) => (written[field] ?? null) === (seen[field] ?? null));
}
