import type { Node } from '../../runtime/kube/objects.ts';
import { readMarks } from '../../runtime/marks/marks.ts';
import type { Shadow } from '../../runtime/shadow/model.ts';
import { shadowName } from '../../runtime/shadow/names.ts';
import { versionOfOsImage } from '../../runtime/shadow/semver.ts';
import type { Recorder } from './recorder.ts';

/** Reasons of the controller after which a node at rest stays as it is for longer than anybody wants to watch. */
const RESTING: ReadonlySet<string> = new Set(['BackingOff', 'RolloutHalted', 'Held', 'Paused', 'OutsideWindow']);
/** The same for a node in mid-update. */
const STUCK: ReadonlySet<string> = new Set(['NotReturned', 'SoakFailed']);

/** Whether a rollout is over: every node runs the new version and rests, or has to be left as it is. */
export function isOver({ nodes, shadows }: Pick<Recorder, 'nodes' | 'shadows'>, to: string): boolean {
  const atEnd = (node: Node): boolean => {
    const shadow = shadows.get(shadowName(node.metadata.name));
    const reason = shadow?.status?.conditions?.find(({ type }) => type === 'UpToDate')?.reason ?? '';
    return STUCK.has(reason) || (isAtRest(node, shadow) && (RESTING.has(reason) || isUpdated(node, shadow, to)));
  };
  return nodes.size > 0 && [...nodes.values()].every(atEnd);
}

function isAtRest(node: Node, shadow: Shadow | undefined): boolean {
  return shadow?.spec.state === 'Idle' && shadow.status?.current_state === 'Idle' && readMarks(node) === undefined;
}

function isUpdated(node: Node, shadow: Shadow | undefined, to: string): boolean {
  return shadow?.status?.current_version === to && versionOfOsImage(node.status?.nodeInfo?.osImage) === to;
}
