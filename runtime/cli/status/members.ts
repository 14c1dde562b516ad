import { nodeInfos } from '../../controller/plan/join.ts';
import { isReason } from '../../controller/plan/reasons.ts';
import { type NodeInfo, type NodeView, type ShadowView, type Snapshot } from '../../controller/plan/snapshot.ts';
import { standingOf } from '../../controller/plan/health.ts';
import type { Verdict } from '../../controller/plan/verdict.ts';
import type { Status } from '../../shadow/model.ts';

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

/** The managed nodes, by name. */
export function membersOf(snapshot: Snapshot, verdicts: readonly Verdict[]): readonly Member[] {
  const infos = new Map(nodeInfos(snapshot).map((info) => [info.node.name, info]));
  return verdicts.flatMap((verdict) => {
    const info = infos.get(verdict.node);
    if (!info) return [];
    const { shadow } = info;
    const isFailing = isReason(verdict.reason, 'failure');
    const standing = standingOf(shadow, isFailing) ?? 'unreported';
    return { info, verdict, standing, step: standing === 'updating' && shadow ? stepOf(info.node, shadow) : undefined };
  });
}

function stepOf(node: NodeView, { spec, status }: ShadowView): Step {
  const reached = status?.current_state;
  if (spec.state === 'Idle' || reached === 'ErrorReset') return 'returning';
  if (spec.state === 'StagedAndPerformedUpdate') return reached === spec.state ? 'staged' : 'staging';
  if (spec.state === 'MonitoringUpdate' || reached === 'RebootedIntoUpdate') return 'soaking';
  return isGoingDown(node, status) ? 'rebooting' : 'draining';
}

/** Whether its pods are gone, or its host was asked to reboot. */
const isGoingDown = ({ marks }: NodeView, status: Status | undefined): boolean =>
  marks?.drained !== undefined || status?.reboot?.requested_at != null;
