import { nodeInfos } from '../plan/nodes/join.ts';
import type { Plan } from '../plan/plan.ts';
import { variablesOf, type WindowState } from '../plan/facts/policies.ts';
import type { Snapshot } from '../plan/facts/snapshot.ts';
import type { Finding } from '../plan/facts/verdict.ts';
import type { PermitView } from '../plan/facts/permit.ts';
import type { Preview } from '../deciding/planner.ts';
import type { Asked } from '../../api/shadow/asked.ts';
import { VERSION } from '../../lib/version.ts';
import { PLAN_SCHEMA } from '../../api/shadow/names.ts';

/** What a controller says on `/plan`, as JSON. Times are milliseconds since the Unix epoch; what is infinite is null. */
export interface PlanReport extends Answering, Pick<Plan, 'halted' | 'warnings' | 'policies' | 'verdicts'>, Kept {
  /** When it was made. */
  readonly at: number;
  readonly paused: boolean;
  readonly pausedBy?: Asked | undefined;
  /** Of the controller's variables. */
  readonly window: WindowState;
  readonly slots: readonly PermitView[];
  readonly places: Plan['budget'];
  /** When time alone may change the plan; absent = never. */
  readonly wakeAt?: number | undefined;
  /** How it stands with repositories of releases. */
  readonly repositories: Preview['repositories'];
  /** What is not known as it is now; absent = nothing. */
  readonly notCurrent?: string | undefined;
}

/** What it says on `/plan/snapshot`, as `plainText` writes it: what its plans are made of, without what time alone changes. */
export interface SnapshotReport extends Answering {
  readonly snapshot: Omit<Snapshot, 'policies'>;
}

/** Who answers. */
export interface Answering {
  /** Another one where readers of this one would misread it. */
  readonly schema: typeof PLAN_SCHEMA;
  /** Of the controller. */
  readonly version: string;
  /** Whether who answers carries the plan out. */
  readonly leading: boolean;
  /** Identity of who does, by the Lease; absent while nobody does. */
  readonly leader?: string | undefined;
}

/** Why nodes do not take what they are offered. */
export interface Kept {
  /** By the name of each node that something keeps from its update. */
  readonly waiting: Readonly<Record<string, Waiting>>;
}

export interface Waiting {
  readonly family: string;
  /** What it is offered. */
  readonly version: string;
  /** All that keeps it from its update, in the order of the gates. The first is its verdict. */
  readonly findings: readonly Finding[];
}

export function planReport(preview: Preview): PlanReport {
  const { verdicts, halted, warnings, policies, repositories, budget, requeueAt, snapshot, now } = preview;
  const { permits: slots, paused, pausedBy, notCurrent } = snapshot;
  const { window } = variablesOf(snapshot);
  const fleet = { paused, pausedBy, window, slots, places: budget, wakeAt: requeueAt, halted, warnings };
  const said = { ...fleet, policies, repositories, notCurrent, verdicts, ...keptIn(snapshot, preview.keepers()) };
  return { ...answering(preview), at: now, ...said };
}

export function snapshotReport(preview: Preview): SnapshotReport {
  const { policies: _, ...snapshot } = preview.snapshot;
  return { ...answering(preview), snapshot };
}

const answering = ({ leading, leader }: Preview): Answering => ({
  schema: PLAN_SCHEMA,
  version: VERSION,
  leading,
  leader,
});

/** @param keepers as `keepersOf` */
export function keptIn(snapshot: Snapshot, keepers: (node: string) => readonly Finding[]): Kept {
  const waiting: Record<string, Waiting> = {};
  for (const { node, shadow } of nodeInfos(snapshot)) {
    const version = shadow?.status?.target_version;
    const findings = version === undefined ? [] : keepers(node.name);
    if (version === undefined || findings.length === 0) continue;
    waiting[node.name] = { family: node.family, version, findings };
  }
  return { waiting };
}
