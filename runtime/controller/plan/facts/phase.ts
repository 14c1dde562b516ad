import { MINUTE_MS } from '../../../lib/clock.ts';
import type { Marks } from '../../../api/marks/marks.ts';
import type { Spec, Status } from '../../../api/shadow/model.ts';

/**
 * Where an update stands on a node, by what its shadow and its Node say. It is computed once a plan for each node, and anew from what was just
 * read before a write. Whether the node has a permit is the Lease's word and no part of it.
 */
export type Phase = Boot & Step;

type Step =
  /** No shadow, or no status yet. */
  | { readonly kind: 'unknown' }
  /** `spent`: spec still names what is over. */
  | { readonly kind: 'resting'; readonly spent: boolean }
  /** `staged`: the version is in the inactive partition, and the node still in service. */
  | { readonly kind: 'staging' | 'staged' }
  /** The drain is asked for and has not begun. `refusedBy`: what does not let it. `silent`: nobody has answered yet. */
  | { readonly kind: 'asked'; readonly refusedBy: readonly string[]; readonly silent: boolean }
  /** Cordoned, and nobody is evicted: its drain lets work finish first. */
  | { readonly kind: 'finishing' }
  /** `isUnasked`: its agent keeps records, and has asked for no reboot yet, so that it ends the drain when it is told to. */
  | { readonly kind: 'draining'; readonly isUnasked: boolean }
  /** A reboot was requested (rules B1 and F1). `request` stays the same text for as long as the request does. */
  | { readonly kind: 'rebooting'; readonly request: string }
  /** The agent has `reported` that it is back, was `told` to monitor, or is `soaking`. */
  | { readonly kind: 'monitoring'; readonly at: 'reported' | 'told' | 'soaking' }
  /** The agent has given up in this step, and waits to be told to come to rest. */
  | { readonly kind: 'failed'; readonly step: Spec['state'] }
  /** Told to come to rest. `calledOff`: its node was not disturbed. */
  | { readonly kind: 'returning'; readonly calledOff: boolean };

export type PhaseKind = Phase['kind'];

/** What is known of the host's boot, besides what the agent says. */
interface Boot {
  /** The host was rebooted as recorded, and its agent has yet to report that. What it reports must still fit the spec. */
  readonly isBackOnRecord: boolean;
  /** The kubelet says that the host came back: it runs the version, or was at least booted since the request. The agent has not reported it. */
  readonly isBackUnreported: boolean;
  /** The host was asked for a reboot, which nothing takes back, and is not known to be back from it. */
  readonly goesDown: boolean;
}

interface Row {
  readonly isUnderWay: boolean;
  /** Disturbed, or may be at any moment without a further write of the controller. */
  readonly isLetThrough: boolean;
  /** If the node is lost now, the release is to blame. */
  readonly isBlamed: boolean;
  /** How long it may last where the agent is still to act, milliseconds. */
  readonly limitMs: (settings: { readonly drainTimeoutMs: number }) => number;
  /** How long its node, which is not disturbed, may take up a place there that others wait for, milliseconds; Infinity = it is not called off. */
  readonly givesBackMs: number;
}

/** An agent waits two hours for a busy host, and starts again where the host is rebooted meanwhile. */
const STAGING_MS = 180 * MINUTE_MS;
/** What a reboot takes besides the drain: the load balancers' time, activation, volumes, the boot itself. */
const REBOOTING_MS = 60 * MINUTE_MS;
/** An agent does everything else at once. */
const OTHER_MS = 30 * MINUTE_MS;
/** An agent whose update was called off has only to report that it is at rest. */
const RETURNING_MS = 2 * MINUTE_MS;

const atRest: Row = {
  isUnderWay: false,
  isLetThrough: false,
  isBlamed: false,
  limitMs: () => Infinity,
  givesBackMs: Infinity,
};
const inService: Row = { ...atRest, isUnderWay: true, limitMs: () => STAGING_MS };
const outOfService: Row = {
  ...inService,
  isLetThrough: true,
  limitMs: ({ drainTimeoutMs }) => (drainTimeoutMs === 0 ? Infinity : drainTimeoutMs + REBOOTING_MS),
};

/** What holds of a node in each phase. */
export const PHASES: Readonly<Record<PhaseKind, Row>> = {
  unknown: atRest,
  resting: atRest,
  staging: { ...inService, givesBackMs: STAGING_MS },
  staged: { ...inService, givesBackMs: OTHER_MS },
  asked: { ...outOfService, givesBackMs: OTHER_MS },
  finishing: { ...outOfService, limitMs: () => Infinity },
  draining: outOfService,
  rebooting: { ...outOfService, isBlamed: true },
  monitoring: { ...outOfService, isBlamed: true, limitMs: () => OTHER_MS },
  failed: { ...inService, limitMs: () => OTHER_MS },
  returning: { ...inService, limitMs: () => OTHER_MS, givesBackMs: RETURNING_MS },
};

interface ShadowSaid {
  readonly spec: Spec;
  readonly status: Status | undefined;
}
/** What the Node says. */
interface Host {
  readonly marks: Marks | undefined;
  readonly unschedulable: boolean;
  readonly bootId: string | undefined;
  /** That it runs by its kubelet. */
  readonly version: string | undefined;
}
interface Reported {
  readonly spec: Spec;
  readonly status: Status;
}

const SAME_BOOT: Boot = { isBackOnRecord: false, isBackUnreported: false, goesDown: false };
const UNKNOWN: Phase = { ...SAME_BOOT, kind: 'unknown' };
/** The phase of nearly every node: nothing of an update is left. */
export const RESTING: Phase = { ...SAME_BOOT, kind: 'resting', spent: false };

/** @param shadow of this very node; undefined where it has none */
export function phaseOf(shadow: ShadowSaid | undefined, node: Host): Phase {
  if (!shadow?.status) return UNKNOWN;
  const { spec, status } = shadow;
  const said = { spec, status };
  if (isAtRest(said) && spec.version == null && spec.state_transition_timestamp == null && !status.reboot)
    return RESTING;
  const step = stepOf(said, node);
  return { ...step, ...bootOf(said, node, step.kind === 'rebooting') };
}

/** Active by the contract: it has a status, and the state that it is in, or is wanted in, is not Idle. */
export const isUnderWay = ({ spec, status }: ShadowSaid): boolean =>
  status !== undefined && (status.current_state !== 'Idle' || spec.state !== 'Idle');
/** At rest, by this view of it. */
export const isAtRest = ({ spec, status }: ShadowSaid): boolean =>
  status?.current_state === 'Idle' && spec.state === 'Idle';

/** It waits for its drain, in service. */
export const isUndisturbed = (phase: Phase): boolean => phase.kind === 'staged' || isRefused(phase);
/** Its update can be called off as if it had never begun. */
export const mayCallOff = (phase: Phase): boolean =>
  phase.kind === 'staging' || isUndisturbed(phase) || isUnevicted(phase);
/** It is told to drain, and nobody has been evicted. */
const isUnevicted = (phase: Phase): boolean => phase.kind === 'finishing' || (phase.kind === 'asked' && phase.silent);
/** It waits for nothing but its drain, and counts as let through. */
export const isToldToDrain = (phase: Phase): boolean => phase.kind === 'asked' || phase.kind === 'finishing';
/** Its agent asks for the drain and is refused. */
export const isRefused = (phase: Phase): boolean => phase.kind === 'asked' && phase.refusedBy.length > 0;
/** Its update was ended before its node was disturbed, and its agent has not come to rest yet. */
export const isCalledOff = (phase: Phase): boolean => phase.kind === 'returning' && phase.calledOff;
/** Its update is over, and all that is missing is the report of its agent. */
export const isOverUnreported = (phase: Phase): boolean =>
  phase.kind === 'returning' || (PHASES[phase.kind].isUnderWay && phase.isBackOnRecord);
export const isLetThrough = (phase: Phase): boolean =>
  phase.kind === 'failed' ? phase.step !== 'StagedAndPerformedUpdate' : PHASES[phase.kind].isLetThrough;
export const isBlamed = (phase: Phase): boolean =>
  phase.kind === 'failed' ? phase.step === 'MonitoringUpdate' : PHASES[phase.kind].isBlamed;

/** The agent has reached the wanted state, or has given up, so the controller writes the next one. This does not look at a soak: time ends it. */
export function isStepOver(phase: Phase): boolean {
  if (phase.kind === 'monitoring') return phase.at !== 'told';
  return phase.kind === 'staged' || phase.kind === 'failed';
}

function stepOf({ spec, status }: Reported, node: Host): Step {
  const { current_state: reached } = status;
  if (spec.state === 'Idle') {
    if (reached !== 'Idle') return { kind: 'returning', calledOff: reached === 'StagedAndPerformedUpdate' };
    const isNamed = spec.version != null || spec.state_transition_timestamp != null;
    return { kind: 'resting', spent: isNamed && status.current_version === status.target_version };
  }
  if (reached === 'ErrorReset') return { kind: 'failed', step: spec.state };
  if (spec.state === 'StagedAndPerformedUpdate') return { kind: reached === spec.state ? 'staged' : 'staging' };
  if (spec.state === 'MonitoringUpdate') {
    return { kind: 'monitoring', at: reached === 'MonitoringUpdate' ? 'soaking' : 'told' };
  }
  return outOfServiceStep({ spec, status }, node);
}

function outOfServiceStep(said: Reported, node: Host): Step {
  if (said.status.current_state === 'RebootedIntoUpdate') return { kind: 'monitoring', at: 'reported' };
  const refusedBy = refusalsOf(said.status, node);
  if (refusedBy.length > 0) return { kind: 'asked', refusedBy, silent: false };
  const request = requestOf(said, node);
  if (request !== undefined) return { kind: 'rebooting', request };
  const { current_state: reached, drain, reboot } = said.status;
  if (node.marks) return drainStep(node.marks, reboot);
  const isUnanswered = drain == null && reboot?.requested_at == null && !node.unschedulable;
  return { kind: 'asked', refusedBy, silent: isUnanswered && reached === 'StagedAndPerformedUpdate' };
}

const drainStep = ({ waitsUntil }: Marks, reboot: Status['reboot']): Step =>
  waitsUntil === undefined
    ? { kind: 'draining', isUnasked: reboot != null && reboot.requested_at == null }
    : { kind: 'finishing' };

/** By whom the drain is refused. Then the drain has cordoned nothing: a cordon that is there is somebody else's. */
function refusalsOf({ current_state: reached, reboot, drain }: Status, { marks }: Host): readonly string[] {
  const isAsking = reached === 'StagedAndPerformedUpdate' && !marks && reboot?.requested_at == null;
  return isAsking ? (drain?.blocked_by ?? []) : [];
}

/**
 * If the Node has marks, their drain must be over first. An agent that keeps `status.reboot` writes it when the version is staged, so that a record
 * without a time is a probe. For other agents the end of the drain is the request. Under an apiserver that leaves no marks either, the cordon is.
 */
function requestOf({ spec, status: { reboot } }: Reported, { marks, unschedulable }: Host): string | undefined {
  if (marks && marks.drained === undefined) return undefined;
  if (!reboot) return marks?.id ?? (unschedulable ? 'cordoned' : undefined);
  return reboot.requested_at != null && reboot.version === spec.version ? reboot.boot_id : undefined;
}

/** What tells that a drain is over, where nothing else does. */
export type LastHost = Pick<Host, 'marks' | 'unschedulable'>;
export const isDrainOver = ({ marks, unschedulable }: LastHost): boolean =>
  marks ? marks.drained !== undefined : unschedulable;

function bootOf(said: Reported, host: Host, isAsked: boolean): Boot {
  const { reboot, current_state: reached } = said.status;
  const recorded = reboot?.requested_at == null ? undefined : reboot.boot_id;
  const isBackOnRecord = isAnotherBoot(host, recorded);
  const isBackUnreported = runsUnreported(said, host) || (isAsked && isRebooted(said, host));
  // If somebody has ended the update since, `status.reboot` still tells that a reboot was requested.
  const isPending = recorded !== undefined && !isBackOnRecord && !REPORTED.has(reached);
  return { isBackOnRecord, isBackUnreported, goesDown: isAsked ? !isBackUnreported : isPending };
}

const isRebooted = ({ status: { reboot } }: Reported, host: Host): boolean =>
  isAnotherBoot(host, reboot?.boot_id ?? host.marks?.boot);

const runsUnreported = ({ spec, status }: Reported, { version }: Host): boolean =>
  version !== undefined && version === spec.version && version !== status.current_version;

/** States that end the step in which a reboot is asked for. */
const REPORTED: ReadonlySet<Status['current_state']> = new Set(['RebootedIntoUpdate', 'ErrorReset']);

const isAnotherBoot = ({ bootId }: Host, recorded: string | null | undefined): boolean =>
  bootId !== undefined && recorded != null && bootId !== recorded;
