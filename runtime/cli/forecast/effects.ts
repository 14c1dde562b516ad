import type { NodeView, ShadowView } from '../../controller/plan/facts/snapshot.ts';
import type { Spec, Status, VersionWish } from '../../api/shadow/model.ts';

/** What the steps of an update, and what is wanted of a host, make of a node and its shadow. */

/** A host offers the version that it is locked to. What it offers without a lock nobody knows: it goes on with what it has offered. */
export function wanting(shadow: ShadowView, wish: VersionWish | null, isWorking: boolean): ShadowView {
  const { spec, status } = shadow;
  const lock = wish?.version_lock;
  const isKept = isWorking && lock != null && status?.version_wish?.refused == null;
  return {
    ...shadow,
    spec: { ...spec, version_wish: wish },
    status: status && isKept ? { ...status, target_version: lock } : status,
  };
}

export function reached({ state, version }: Spec, status: Status, isFinished: boolean): Status {
  return {
    ...status,
    current_state: state,
    ...(state === 'RebootedIntoUpdate' && { current_version: version ?? status.current_version, reboot: null }),
    ...(state === 'RebootedIntoUpdate' && status.staged && { staged: {} }),
    ...(isFinished && { crash_count: 0, failed_versions: null }),
  };
}

/** Its update was ended without its agent. */
export function abandoned(shadow: ShadowView): ShadowView {
  const spec = { ...shadow.spec, state: 'Idle', version: null, state_transition_timestamp: null } as const;
  const status = shadow.status && ({ ...shadow.status, current_state: 'Idle', reboot: null, drain: null } as const);
  return { ...shadow, spec, status };
}

/** The node without the marks, and without the cordon that they own. */
export function released(node: NodeView): NodeView {
  if (!node.marks) return node;
  const unschedulable = node.unschedulable && !node.marks.owns.includes('cordon');
  return { ...node, marks: undefined, unschedulable, outAt: unschedulable ? node.outAt : undefined };
}
