import type { EventRecord } from '../../kube/event-recorder.ts';
import type { ObjectReference } from '../../kube/objects.ts';
import type { Spec } from '../../api/shadow/model.ts';
import type { SentCommand } from './events.ts';
import { phaseOf } from '../plan/facts/phase.ts';
import type { Plan } from '../plan/plan.ts';
import { needsRescue } from '../plan/nodes/recovery.ts';
import { isReason, type SetbackReason } from '../plan/facts/reasons.ts';
import type { OsReleaseName } from '../plan/facts/ledgers.ts';
import type { Snapshot } from '../plan/facts/snapshot.ts';

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
export interface About extends Partial<OsReleaseName> {
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

export function byTopic(statements: readonly Statement[]): Statements {
  return new Map(statements.map((statement) => [topicOf(statement), statement]));
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
