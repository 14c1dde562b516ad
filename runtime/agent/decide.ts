import { hintIn } from '../api/shadow/hint.ts';
import { belongsTo } from '../api/shadow/owner.ts';
import type { ShadowObject } from '../api/resources.ts';
import type { Spec, Status, VersionWish } from '../api/shadow/model.ts';

/** What decides which step the agent does next. What the host has staged is looked at within the steps. */
export interface View {
  /** As the watch shows it; undefined where there is none. */
  readonly shadow: ShadowObject | undefined;
  readonly nodeUid: string;
  /** The version that the host runs. */
  readonly version: string;
  readonly bootId: string;
}

/** What the agent does, for as long as the decision stays the same. */
export type Step =
  /** There is nothing to do until something changes. */
  | { readonly kind: 'wait' }
  /** There is no shadow. */
  | { readonly kind: 'create' }
  /** The shadow belongs to another node, which had this name before or has it now. */
  | { readonly kind: 'identify' }
  /** The shadow has no status yet. */
  | { readonly kind: 'introduce' }
  /** At rest: look for updates by what the shadow wishes from time to time, and prepare the version `ahead` of its update. */
  | { readonly kind: 'offer'; readonly ahead?: string; readonly wish?: VersionWish }
  /** Back to rest, from any state. */
  | { readonly kind: 'rest'; readonly succeeded: boolean }
  | { readonly kind: 'prepare'; readonly version: string }
  | { readonly kind: 'reboot'; readonly version: string }
  /** The reboot that we asked for did not lead to `version`. */
  | { readonly kind: 'bootFailed'; readonly version: string }
  /** Back in service: have it looked for what the drain has displaced, until all of it is back. */
  | { readonly kind: 'settle' }
  /** The wanted state is reached; with `release` the node goes back into service before this is reported. */
  | { readonly kind: 'reached'; readonly state: ReachableState; readonly release: boolean };

export type ReachableState = 'StagedAndPerformedUpdate' | 'RebootedIntoUpdate' | 'MonitoringUpdate';

const WAIT: Step = { kind: 'wait' };
const SETTLE: Step = { kind: 'settle' };

/** Decides what to do now. Only the view decides, so that an agent that was killed at any moment continues from there. */
export function decide(view: View): Step {
  const { shadow } = view;
  if (!shadow) return { kind: 'create' };
  if (!belongsTo(shadow, view.nodeUid)) return { kind: 'identify' };
  if (!shadow.status) return { kind: 'introduce' };
  return towards(shadow.spec, shadow.status, view);
}

export function sameStep(a: Step, b: Step): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Whether it is on record that `version` is in the inactive partition of this boot. */
export const isStagedAhead = ({ shadow, bootId }: View, version: string): boolean =>
  shadow?.status?.staged?.version === version && shadow.status.staged.boot_id === bootId;

function towards(spec: Spec, status: Status, view: View): Step {
  if (spec.state === 'Idle') return atRest(status, view);
  // The controller answers a failure with Idle, and a state that is reached with the next state.
  if (status.current_state === spec.state || status.current_state === 'ErrorReset') return afterwards(status);
  switch (spec.state) {
    case 'StagedAndPerformedUpdate':
      return staging(spec.version, view);
    case 'RebootedIntoUpdate':
      return rebooting(spec.version, status, view);
    case 'MonitoringUpdate':
      return { kind: 'reached', state: 'MonitoringUpdate', release: true };
    case 'ErrorReset':
      break;
  }
  return WAIT;
}

const afterwards = ({ current_state: reached, displaced }: Status): Step =>
  reached === 'MonitoringUpdate' && displaced ? SETTLE : WAIT;

function atRest(status: Status, view: View): Step {
  if (status.current_state !== 'Idle') return { kind: 'rest', succeeded: status.current_state === 'MonitoringUpdate' };
  return { kind: 'offer', ...wished(view), ...named(status, view) };
}

const wished = ({ shadow }: View): { readonly wish?: VersionWish } =>
  shadow?.spec.version_wish ? { wish: shadow.spec.version_wish } : {};

function named(status: Status, view: View): { readonly ahead?: string } {
  const ahead = hintIn(view.shadow?.metadata.annotations)?.version;
  const isWanted = ahead !== undefined && ahead === status.target_version && ahead !== view.version;
  // What cannot be reported helps nobody.
  return isWanted && status.staged && !isStagedAhead(view, ahead) ? { ahead } : {};
}

function staging(version: Spec['version'], view: View): Step {
  if (version == null) return WAIT;
  if (view.version === version) return { kind: 'reached', state: 'StagedAndPerformedUpdate', release: false };
  return { kind: 'prepare', version };
}

function rebooting(version: Spec['version'], status: Status, view: View): Step {
  if (version == null) return WAIT;
  if (view.version === version) return { kind: 'reached', state: 'RebootedIntoUpdate', release: true };
  const { reboot } = status;
  // A record without `requested_at` is a probe. A record of another version is left from another update.
  const ours = reboot?.requested_at != null && reboot.version === version;
  if (ours && reboot.boot_id !== view.bootId) return { kind: 'bootFailed', version };
  return { kind: 'reboot', version };
}
