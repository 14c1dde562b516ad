import type { Node } from '../../runtime/kube/objects.ts';
import { readMarks } from '../../runtime/marks/marks.ts';
import type { Shadow } from '../../runtime/shadow/model.ts';
import { shadowName } from '../../runtime/shadow/names.ts';
import { versionOfOsImage } from '../../runtime/shadow/semver.ts';
import type { Recorder } from './recorder.ts';
import { verdictOf } from './verdict.ts';

/** Reasons of the controller after which a node at rest stays as it is for longer than anybody wants to watch. */
const RESTING: ReadonlySet<string> = new Set([
  'BackingOff',
  'RolloutHalted',
  'Held',
  'Paused',
  'OutsideWindow',
  'FitsNoWindow',
]);
/** The same for a node that runs the newest version it was offered. */
const NOTHING_OFFERED: ReadonlySet<string> = new Set(['UpToDate', 'NoUpdateOffered']);
/** The same for a node in mid-update. */
const STUCK: ReadonlySet<string> = new Set(['NotReturned', 'SoakFailed']);

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
  const reason = verdictOf(shadow)?.reason ?? '';
  if (STUCK.has(reason)) return 'over';
  if (!isAtRest(node, shadow)) return 'running';
  if (NOTHING_OFFERED.has(reason)) return isUpdated(node, shadow, to) ? 'over' : 'quiet';
  return RESTING.has(reason) ? 'over' : 'running';
}

function isAtRest(node: Node, shadow: Shadow | undefined): boolean {
  return shadow?.spec.state === 'Idle' && shadow.status?.current_state === 'Idle' && readMarks(node) === undefined;
}

function isUpdated(node: Node, shadow: Shadow | undefined, to: string): boolean {
  return shadow?.status?.current_version === to && versionOfOsImage(node.status?.nodeInfo?.osImage) === to;
}
