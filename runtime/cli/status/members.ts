import { nodeInfos } from '../../controller/plan/nodes/join.ts';
import { isReason } from '../../controller/plan/facts/reasons.ts';
import type { NodeInfo } from '../../controller/plan/facts/snapshot.ts';
import { type Step, stepOf } from '../../controller/plan/facts/steps.ts';
import { standingOf } from '../../controller/plan/nodes/standing.ts';
import type { Verdict } from '../../controller/plan/facts/verdict.ts';
import type { Inspection } from '../inspect.ts';

/** The state of a node in one word. `unreported`: no agent has reported it yet. */
export const STANDINGS = ['upToDate', 'updating', 'waiting', 'failed', 'unreported'] as const;
export type Standing = (typeof STANDINGS)[number];

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
    return { info, verdict, standing, step: standing === 'updating' ? (verdict.phase ?? stepOf(info)) : undefined };
  });
}
