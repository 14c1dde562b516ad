import type { ShadowCondition } from '../../../api/shadow/model.ts';

/** What is known of a verdict besides its words. */
interface Row {
  /** What ends it where nothing else happens: nothing need end it, its update does, other nodes, time, or a person. */
  readonly ends: 'done' | 'running' | 'others' | 'time' | 'person';
  /** What a person has to do about it. Commands stand in backticks. Absent where nobody has to, or people have decided it so. */
  readonly remedy?: string;
  /** The alert that calls somebody. Reasons may share one. */
  readonly alert?: string;
  /** People are told by an Event and a notification of its name once it begins: of each node, or once for the fleet. */
  readonly told?: 'setback' | 'fleet';
  /**
   * What the condition of its node says instead. Needed where thousands may wait alike while the message changes with each update: all of them would be
   * written again each time. It is constant, and the policy says the rest once.
   */
  readonly condition?: { readonly reason: string; readonly message: string };
  /** The setting of the policy by which it is decided. */
  readonly setting?: string;
  readonly is?: readonly Quality[];
}

type Quality =
  /** Its node is about to be updated, or is: warnings concern it. */
  | 'ahead'
  /** `kubectl brupop now` ends it, or it ends once a place is free. */
  | 'lifted'
  /** Its node has failed on the release that it runs or heads for. */
  | 'failure'
  /** It matters more than a refused write, which then stands behind it. */
  | 'outranking refusals'
  /** No agent is there that could act on its node. */
  | 'agentless'
  /** A person has to act on the release, and not on each node that it keeps. */
  | 'told of its release';

const YOUNG = { reason: 'TooYoung', message: 'the release has not been offered for long enough' };
const RECENT = { reason: 'RecentlyUpdated', message: 'its last update is too recent for its policy' };
const PINNED = { reason: 'VersionPinned', message: 'its policy takes another version' };
const IN_TURN = { reason: 'WaitingForSlot', message: 'other nodes come first' };

/**
 * Every verdict, and all that depends on which one it is: what people are told, alerted of and asked to do. Of those that a person has to act on
 * the most urgent comes first. The order of the gates is not in here, because their list has it.
 *
 * A new one needs a row here and, where it keeps nodes from a start, one in `GATES`: `of` each `node` is always right. What it goes by on a Node is a
 * field of `NodeView` that `seeing/views.ts` reads. One that lasts until a person acts belongs into
 * `neverStarts` too, so that nobody waits for the node; no test says so. The compiler asks for the words of a new alert, and test/documents.test.ts
 * for a row in the documents; `npm run synth` and `npm test -- test/packed -u` write what is generated. All else that tells verdicts apart follows
 * from the row.
 */
const VERDICTS = {
  UpToDate: { ends: 'done' },
  NoUpdateOffered: { ends: 'done' },
  Updating: { ends: 'running', is: ['ahead', 'lifted'] },
  WaitingForSlot: { ends: 'others', condition: IN_TURN, is: ['ahead', 'lifted'] },
  ZoneBusy: { ends: 'others', setting: 'zones.atOnce', condition: IN_TURN, is: ['ahead'] },
  Unproven: {
    ends: 'others',
    setting: 'proof',
    condition: { reason: 'Unproven', message: 'other nodes have to prove the release first' },
    is: ['ahead'],
  },
  Widening: {
    ends: 'others',
    setting: 'proof.widen',
    condition: IN_TURN,
    is: ['ahead'],
  },
  WaitingForPolicy: {
    ends: 'others',
    setting: 'after',
    condition: { reason: 'WaitingForPolicy', message: 'a policy or a channel that comes first is waited for' },
    is: ['ahead'],
  },
  OutsideWindow: {
    ends: 'time',
    setting: 'windows',
    condition: { reason: 'OutsideWindow', message: 'no window is open that its update fits into' },
    is: ['ahead', 'lifted'],
  },
  Pausing: { ends: 'time', setting: 'pauseBetween', condition: IN_TURN, is: ['ahead'] },
  NewlyRuled: { ends: 'time', condition: IN_TURN, is: ['ahead'] },
  BackingOff: { ends: 'time', is: ['ahead'] },
  BudgetsCrossed: { ends: 'others' },
  Checking: { ends: 'running' },
  WorkFinishing: { ends: 'running' },
  WorkloadsNotBack: { ends: 'running' },
  Frozen: { ends: 'time', setting: 'freezes', condition: { reason: 'Frozen', message: 'its policy is frozen' } },
  TooYoung: { ends: 'time', setting: 'version.minAge', condition: YOUNG, is: ['ahead'] },
  RecentlyUpdated: { ends: 'time', setting: 'minInterval', condition: RECENT, is: ['ahead'] },
  VersionPinned: { ends: 'person', setting: 'version', condition: PINNED },
  Held: { ends: 'person' },
  Paused: { ends: 'person' },
  // Ends when the one who is removing the node has done so.
  Leaving: { ends: 'person' },
  // Other alerts tell of nodes that are down. Where an update takes one down, another verdict does.
  NodeNotReady: { ends: 'person' },
  FitsNoWindow: {
    ends: 'person',
    setting: 'windowFit',
    alert: 'BrupopFitsNoWindow',
    condition: { reason: 'FitsNoWindow', message: 'its update fits into no window ahead' },
    is: ['ahead', 'lifted'],
  },
  NotReturned: {
    ends: 'person',
    remedy: 'Look at the machine, or delete its Node.',
    alert: 'BrupopNodeNotReturned',
    told: 'setback',
    is: ['failure', 'outranking refusals', 'agentless'],
  },
  SoakFailed: {
    ends: 'person',
    remedy: 'Look at the node.',
    alert: 'BrupopSoakFailed',
    told: 'setback',
    is: ['failure', 'outranking refusals'],
  },
  WorkloadsWorse: {
    ends: 'person',
    remedy: 'Look at the pods that are named, and at what the release has changed for them.',
    alert: 'BrupopWorkloadsWorse',
    told: 'setback',
    is: ['failure'],
  },
  ProgressDeadlineExceeded: {
    ends: 'person',
    remedy: 'Look at the node and the log of its agent.',
    alert: 'BrupopProgressDeadlineExceeded',
    told: 'setback',
    is: ['outranking refusals'],
  },
  NotCurrent: {
    ends: 'person',
    remedy: 'Look at what the API server answers the controller.',
    alert: 'BrupopNotCurrent',
  },
  RolloutHalted: {
    ends: 'person',
    alert: 'BrupopRolloutHalted',
    is: ['told of its release'],
  },
  TooManyUnhealthy: {
    ends: 'person',
    remedy: 'Look at the nodes that are not Ready, hold those that stay so, or raise MAX_UNHEALTHY.',
    alert: 'BrupopTooManyUnhealthy',
    told: 'fleet',
    condition: { reason: 'TooManyUnhealthy', message: 'too many nodes are not Ready' },
  },
  ControlPlaneAway: {
    ends: 'person',
    remedy: 'Look at the control plane; delete the Lease that is named where nobody elects a leader by it any more.',
    alert: 'BrupopControlPlaneAway',
    told: 'fleet',
    condition: { reason: 'ControlPlaneAway', message: 'nobody takes the place of evicted pods' },
  },
  OtherOperator: {
    ends: 'person',
    remedy: 'Take one of the operators away, with its shadows, or set OTHER_OPERATORS to ignore.',
    alert: 'BrupopOtherOperator',
    told: 'fleet',
    condition: { reason: 'OtherOperator', message: 'there is another operator beside this one' },
  },
  // Also of a node that is left alone for a while after its drain was refused, which time ends.
  DrainBlocked: {
    ends: 'person',
    remedy: 'Look at the workload, or wait until the drain times out.',
    alert: 'BrupopDrainBlocked',
  },
  NoRoom: {
    ends: 'person',
    remedy: 'Add nodes, let the pods ask for less, or take `capacity` out of the policy.',
    alert: 'BrupopNoRoom',
  },
  PolicyInvalid: {
    ends: 'person',
    remedy: 'Mend the policy.',
    alert: 'BrupopNoRulingPolicy',
    condition: { reason: 'PolicyInvalid', message: 'the policy or the channel that rules it cannot be obeyed' },
  },
  PolicyConflict: {
    ends: 'person',
    remedy: 'Give one of the policies another priority.',
    alert: 'BrupopNoRulingPolicy',
  },
  WriteRefused: {
    ends: 'person',
    remedy:
      'Look at what the message names: a policy or webhook that refuses it, a busy API server, or a right that is missing: then apply the roles of this version.',
    alert: 'BrupopWriteRefused',
  },
  AgentSilent: {
    ends: 'person',
    remedy: "Look at the agent's pod on the node.",
    alert: 'BrupopAgentSilent',
    is: ['outranking refusals', 'agentless'],
  },
  AgentMissing: {
    ends: 'person',
    remedy: "Look at the agent's pod on the node.",
    alert: 'BrupopAgentSilent',
    is: ['agentless'],
  },
  Reverted: {
    ends: 'person',
    remedy: 'Look at the node, then `kubectl brupop retry NODE`; or hold it where it is to stay.',
    alert: 'BrupopUnaskedBoot',
    told: 'setback',
    is: ['failure'],
  },
  Unstable: {
    ends: 'person',
    remedy: 'Look at the node, or hold it where it is to stay.',
    alert: 'BrupopUnaskedBoot',
    told: 'setback',
    is: ['failure'],
  },
  CannotLookForUpdates: {
    ends: 'person',
    remedy:
      'Let the host reach its update repository: https://updates.bottlerocket.aws, unless its settings name another.',
    alert: 'BrupopCannotLookForUpdates',
  },
  LockedElsewhere: {
    ends: 'person',
    remedy: "Set the host's settings.updates.version-lock to latest, or take the version out of the policy.",
  },
  NotOffered: {
    ends: 'person',
    remedy: 'Wait for its wave, let the policy ignore waves, or name another version there.',
  },
  AwaitingApproval: {
    ends: 'person',
    setting: 'approval',
    remedy: '`kubectl brupop approve RELEASE --policy POLICY`.',
    condition: { reason: 'AwaitingApproval', message: 'its policy wants the release to be approved' },
  },
  CheckFailed: {
    ends: 'person',
    remedy: 'Look at what the check says of the node, or change the check.',
    alert: 'BrupopCheckFailed',
  },
  ShadowNotOwned: {
    ends: 'person',
    remedy: 'Delete the shadow: the agent makes it anew.',
    alert: 'BrupopShadowNotOwned',
  },
} as const satisfies Readonly<Record<string, Row>>;

/** Why a node is not being updated, or what its update is at. */
export type Reason = keyof typeof VERDICTS;
export const REASONS = Object.keys(VERDICTS) as readonly Reason[];

type Told<Kind> = { [R in Reason]: (typeof VERDICTS)[R] extends { told: Kind } ? R : never }[Reason];

/** Troubles of an update that only a person, or the node itself, can end. */
export type SetbackReason = Told<'setback'>;
export type FleetReason = Told<'fleet'>;
type ToldReason = SetbackReason | FleetReason;
export type VerdictAlert = Extract<(typeof VERDICTS)[Reason], { alert: string }>['alert'];

interface Said {
  readonly reason: Reason;
  readonly message: string;
}

export const traitsOf = (reason: Reason): Row => VERDICTS[reason];
/** What the condition of a node says. */
export const conditionOf = ({ reason, message }: Said): Pick<ShadowCondition, 'reason' | 'message'> =>
  traitsOf(reason).condition ?? { reason, message };
export const isReason = (reason: Reason, quality: Quality): boolean => traitsOf(reason).is?.includes(quality) === true;
export const isSetbackReason = (reason: Reason): reason is SetbackReason => traitsOf(reason).told === 'setback';
/** Nothing is under way, and nothing is waited for. */
export const isDone = (reason: Reason): boolean => traitsOf(reason).ends === 'done';
/** It waits for other nodes, its own policy's among them. Not derived: a node that waits for another policy waits for nobody's place. */
export const isQueued = (reason: Reason): boolean =>
  traitsOf(reason).ends === 'others' && reason !== 'WaitingForPolicy';
/** A person has to act. */
export const needsPerson = (reason: Reason): boolean =>
  traitsOf(reason).remedy !== undefined || isReason(reason, 'told of its release');
/** 0 where nobody has to. */
export const urgencyOf = (reason: Reason): number => (needsPerson(reason) ? REASONS.indexOf(reason) : 0);

export const SETBACKS = REASONS.filter(isSetbackReason);
/** Troubles of the fleet, which people are told of once for all nodes. */
export const OF_FLEET = REASONS.filter((reason): reason is FleetReason => traitsOf(reason).told === 'fleet');
export const TOLD = REASONS.filter((reason): reason is ToldReason => traitsOf(reason).told !== undefined);
