import type { Node } from '../../../runtime/kube/objects.ts';
import { isDone, isReason, type Reason, REASONS } from '../../../runtime/controller/plan/facts/reasons.ts';
import { readMarks } from '../../../runtime/api/marks/marks.ts';
import type { Shadow } from '../../../runtime/api/shadow/model.ts';
import { shadowName } from '../../../runtime/api/shadow/names.ts';
import { versionOfOsImage } from '../../../runtime/api/shadow/semver.ts';
import type { Recorder } from './recorder.ts';
import { verdictOf } from './verdict.ts';

/** What keeps a node at rest as it is for longer than anybody wants to watch. */
const STAYS: ReadonlySet<Reason> = new Set<Reason>([
  'AwaitingApproval',
  'BackingOff',
  'CannotLookForUpdates',
  'FitsNoWindow',
  'Frozen',
  'Held',
  'LockedElsewhere',
  'NotOffered',
  'OutsideWindow',
  'Paused',
  'RecentlyUpdated',
  'RolloutHalted',
  'TooYoung',
  'VersionPinned',
]);

/**
 * Where a fleet stands: `over` when every node runs the new version and rests, or has to be left as it is; `quiet` when the only thing
 * that could still happen is that a host comes to be offered the version after all.
 */
export type Outcome = 'running' | 'quiet' | 'over';

export function outcomeOf({ nodes, shadows }: Pick<Recorder, 'nodes' | 'shadows'>, to: string): Outcome {
  const outcomes = [...nodes.values()].map((node) =>
    nodeOutcome(node, shadows.get(shadowName(node.metadata.name)), to),
  );
  if (outcomes.length === 0 || outcomes.includes('running')) return 'running';
  return outcomes.includes('quiet') ? 'quiet' : 'over';
}

function nodeOutcome(node: Node, shadow: Shadow | undefined, to: string): Outcome {
  const said = verdictOf(shadow)?.reason;
  const reason = REASONS.find((one) => one === said);
  if (reason && isReason(reason, 'failure')) return 'over';
  if (!reason || !isAtRest(node, shadow)) return 'running';
  if (isDone(reason)) return isUpdated(node, shadow, to) ? 'over' : 'quiet';
  return STAYS.has(reason) ? 'over' : 'running';
}

function isAtRest(node: Node, shadow: Shadow | undefined): boolean {
  return shadow?.spec.state === 'Idle' && shadow.status?.current_state === 'Idle' && readMarks(node) === undefined;
}

function isUpdated(node: Node, shadow: Shadow | undefined, to: string): boolean {
  return shadow?.status?.current_version === to && versionOfOsImage(node.status?.nodeInfo?.osImage) === to;
}
