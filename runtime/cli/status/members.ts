import { nodeInfos } from '../../controller/plan/nodes/join.ts';
import type { PhaseKind } from '../../controller/plan/facts/phase.ts';
import { isReason } from '../../controller/plan/facts/reasons.ts';
import type { NodeInfo } from '../../controller/plan/facts/snapshot.ts';
import { standingOf } from '../../controller/plan/nodes/health.ts';
import type { Verdict } from '../../controller/plan/facts/verdict.ts';
import type { Inspection } from '../inspect.ts';

/** The state of a node in one word. `unreported`: no agent has reported it yet. */
export const STANDINGS = ['upToDate', 'updating', 'waiting', 'failed', 'unreported'] as const;
export type Standing = (typeof STANDINGS)[number];

/** The step of a node that is being updated. */
export const STEPS = ['staging', 'staged', 'draining', 'rebooting', 'soaking', 'returning'] as const;
export type Step = (typeof STEPS)[number];

/** A managed node with the plan's verdict. */
export interface Member {
  readonly info: NodeInfo;
  readonly verdict: Verdict;
  readonly standing: Standing;
  /** Undefined for a node that is not being updated. */
  readonly step: Step | undefined;
}

type Seen = Pick<Inspection, 'snapshot' | 'plan' | 'permitsKnown'>;

/** The managed nodes, by name. */
export function membersOf({ snapshot, plan: { verdicts }, permitsKnown }: Seen): readonly Member[] {
  const infos = new Map(nodeInfos(snapshot).map((info) => [info.node.name, info]));
  return verdicts.flatMap((verdict) => {
    const info = infos.get(verdict.node);
    if (!info) return [];
    const { shadow, permit } = info;
    const isFailing = isReason(verdict.reason, 'failure');
    const stated = standingOf(shadow, isFailing) ?? 'unreported';
    // A permit in the Lease is what permits an update.
    const standing = stated === 'updating' && permitsKnown && !permit ? 'waiting' : stated;
    return { info, verdict, standing, step: standing === 'updating' ? stepOf(info) : undefined };
  });
}

/** Once its pods are gone, the host goes down at any moment. */
const stepOf = ({ node, phase: { kind } }: NodeInfo): Step =>
  kind === 'draining' && node.marks?.drained !== undefined ? 'rebooting' : (STEP_OF[kind] ?? 'returning');

const STEP_OF: Readonly<Partial<Record<PhaseKind, Step>>> = {
  staging: 'staging',
  staged: 'staged',
  asked: 'draining',
  draining: 'draining',
  rebooting: 'rebooting',
  monitoring: 'soaking',
};
