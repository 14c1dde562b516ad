import type { ShadowObject } from '../api/resources.ts';
import type { Node } from '../kube/objects.ts';
import { readMarks } from '../api/marks/marks.ts';
import type { RebootRecord } from '../api/shadow/model.ts';
import type { State } from '../api/shadow/states.ts';
import { versionOfOsImage } from '../api/shadow/semver.ts';

/** A node and its shadow, both read live, the node first. Only in this order do the answers below hold until something is written. */
export interface NodeSnapshot {
  readonly node: Node;
  readonly shadow: ShadowObject;
}

/** Why the node must not be drained, or excluded from load balancers, now; undefined where it may. */
export function whyNotDrain({ node, shadow: { spec, status } }: NodeSnapshot): string | undefined {
  if (spec.state !== 'RebootedIntoUpdate') return `the node is wanted in ${spec.state}, not in RebootedIntoUpdate`;
  if (!status) return 'the node has reported no status yet';
  if (OVER.has(status.current_state)) return `the node has reported ${status.current_state}`;
  if (hasRebooted(status.reboot, node)) return 'the reboot that was requested has happened';
  return undefined;
}

/** States that end the step in which a node is drained. */
const OVER: ReadonlySet<State> = new Set<State>(['RebootedIntoUpdate', 'ErrorReset']);

/** A record without `requested_at` is a probe: no reboot was requested. */
function hasRebooted(record: RebootRecord | null | undefined, node: Node): boolean {
  return record?.requested_at != null && record.boot_id !== node.status?.nodeInfo?.bootID;
}

/**
 * Why the node must not be released now; undefined where it may. In the step that reboots, only an agent whose node has come up at the
 * wanted version has a reason to ask: a request from before the reboot that arrives late must not undo the drain.
 */
export function whyNotRelease({ node, shadow }: NodeSnapshot): string | undefined {
  if (shadow.spec.state !== 'RebootedIntoUpdate') return undefined;
  const running = versionOfOsImage(node.status?.nodeInfo?.osImage);
  if (running === undefined || running === shadow.spec.version) return undefined;
  return `the node runs ${running} and is wanted at ${shadow.spec.version ?? 'no version'}`;
}

/**
 * Whether the cordon, or the label, was put on the node by the older implementation's apiserver, which leaves no marks. So it is where the
 * node has just come up at the wanted version, and no drain of ours has run in this attempt.
 */
export function markedByOlderApiserver({ node, shadow }: NodeSnapshot): boolean {
  const running = versionOfOsImage(node.status?.nodeInfo?.osImage);
  return (
    readMarks(node) === undefined &&
    shadow.spec.state === 'RebootedIntoUpdate' &&
    running !== undefined &&
    running === shadow.spec.version &&
    shadow.status?.drain == null
  );
}
