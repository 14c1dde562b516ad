import type { ShadowCondition } from '../../../api/shadow/model.ts';
import type { Quality, Row } from './verdict-row.ts';

const YOUNG = { reason: 'TooYoung', message: 'the release has not been offered for long enough' };
const RECENT = { reason: 'RecentlyUpdated', message: 'its last update is too recent for its policy' };
const PINNED = { reason: 'VersionPinned', message: 'its policy takes another version' };
const IN_TURN = { reason: 'WaitingForSlot', message: 'other nodes come first' };

/** A person decides, and nobody is called. */
const FOR_LATER = { ends: 'person', alert: undefined, told: undefined, is: [] } as const;

/** Nobody is called. */
const QUIET = { urgency: undefined, remedy: undefined, alert: undefined, told: undefined } as const;

/**
 * Every verdict, and all that depends on which one it is: what people are told, alerted of and asked to do. A reason without a row, and a row
 * without a column, do not compile. The order of the gates is not in here, because their list has it.
 */
export const VERDICTS = {
  UpToDate: { ...QUIET, ends: 'done', is: [] },
  NoUpdateOffered: { ...QUIET, ends: 'done', is: [] },
  Updating: { ...QUIET, ends: 'running', is: ['ahead', 'lifted'] },
  WaitingForSlot: { ...QUIET, ends: 'others', condition: IN_TURN, is: ['ahead', 'lifted'] },
  ZoneBusy: { ...QUIET, ends: 'others', condition: IN_TURN, is: ['ahead'] },
  Unproven: {
    ...QUIET,
    ends: 'others',
    condition: { reason: 'Unproven', message: 'other nodes have to prove the release first' },
    is: ['ahead'],
  },
  Widening: {
    ...QUIET,
    ends: 'others',
    condition: IN_TURN,
    is: ['ahead'],
  },
  WaitingForPolicy: {
    ...QUIET,
    ends: 'others',
    condition: { reason: 'WaitingForPolicy', message: 'a policy or a channel that comes first is waited for' },
    is: ['ahead'],
  },
  OutsideWindow: {
    ...QUIET,
    ends: 'time',
    condition: { reason: 'OutsideWindow', message: 'no window is open that its update fits into' },
    is: ['ahead', 'lifted'],
  },
  Pausing: { ...QUIET, ends: 'time', condition: IN_TURN, is: ['ahead'] },
  NewlyRuled: { ...QUIET, ends: 'time', condition: IN_TURN, is: ['ahead'] },
  BackingOff: { ...QUIET, ends: 'time', is: ['ahead'] },
  BudgetsCrossed: { ...QUIET, ends: 'others', is: [] },
  Checking: { ...QUIET, ends: 'running', is: [] },
  WorkFinishing: { ...QUIET, ends: 'running', is: [] },
  WorkloadsNotBack: { ...QUIET, ends: 'running', is: [] },
  Frozen: { ...QUIET, ends: 'time', condition: { reason: 'Frozen', message: 'its policy is frozen' }, is: [] },
  TooYoung: { ...QUIET, ends: 'time', condition: YOUNG, is: ['ahead'] },
  RecentlyUpdated: { ...QUIET, ends: 'time', condition: RECENT, is: ['ahead'] },
  VersionPinned: { ...QUIET, ends: 'person', condition: PINNED, is: [] },
  Held: { ...QUIET, ends: 'person', is: [] },
  Paused: { ...QUIET, ends: 'person', is: [] },
  // Ends when the one who is removing the node has done so.
  Leaving: { ...QUIET, ends: 'person', is: [] },
  // No update of it runs, so this is for the alerts on nodes.
  NodeNotReady: { ...QUIET, ends: 'person', is: [] },
  FitsNoWindow: {
    ...QUIET,
    ends: 'person',
    alert: 'BrupopFitsNoWindow',
    condition: { reason: 'FitsNoWindow', message: 'its update fits into no window ahead' },
    is: ['ahead', 'lifted'],
  },
  NotReturned: {
    ends: 'person',
    urgency: 1,
    remedy: 'Look at the machine, or delete its Node.',
    alert: 'BrupopNodeNotReturned',
    told: 'setback',
    is: ['failure', 'outranking refusals', 'agentless'],
  },
  SoakFailed: {
    ends: 'person',
    urgency: 2,
    remedy: 'Look at the node.',
    alert: 'BrupopSoakFailed',
    told: 'setback',
    is: ['failure', 'outranking refusals'],
  },
  ProgressDeadlineExceeded: {
    ends: 'person',
    urgency: 3,
    remedy: 'Look at the node and the log of its agent.',
    alert: 'BrupopProgressDeadlineExceeded',
    told: 'setback',
    is: ['outranking refusals'],
  },
  WorkloadsWorse: {
    ends: 'person',
    urgency: 2,
    remedy: 'Look at the pods that are named, and at what the release has changed for them.',
    alert: 'BrupopWorkloadsWorse',
    told: 'setback',
    is: ['failure'],
  },
  NotCurrent: {
    ...FOR_LATER,
    urgency: 4,
    remedy: 'Look at what the API server answers the controller.',
    alert: 'BrupopNotCurrent',
  },
  RolloutHalted: {
    ...FOR_LATER,
    urgency: 5,
    remedy: 'Repair a node that failed, or wait for a better release.',
    alert: 'BrupopRolloutHalted',
  },
  TooManyUnhealthy: {
    ends: 'person',
    urgency: 6,
    remedy: 'Look at the nodes that are not Ready, hold those that stay so, or raise MAX_UNHEALTHY.',
    alert: 'BrupopTooManyUnhealthy',
    told: 'fleet',
    condition: { reason: 'TooManyUnhealthy', message: 'too many nodes are not Ready' },
    is: [],
  },
  ControlPlaneAway: {
    ends: 'person',
    urgency: 7,
    remedy: 'Look at the control plane; delete the Lease that is named where nobody elects a leader by it any more.',
    alert: 'BrupopControlPlaneAway',
    told: 'fleet',
    condition: { reason: 'ControlPlaneAway', message: 'nobody takes the place of evicted pods' },
    is: [],
  },
  OtherOperator: {
    ends: 'person',
    urgency: 8,
    remedy: 'Take one of the operators away, with its shadows, or set OTHER_OPERATORS to ignore.',
    alert: 'BrupopOtherOperator',
    told: 'fleet',
    condition: { reason: 'OtherOperator', message: 'there is another operator beside this one' },
    is: [],
  },
  // Also of a node that is left alone for a while after its drain was refused, which time ends.
  DrainBlocked: {
    ...FOR_LATER,
    urgency: 9,
    remedy: 'Look at the workload, or wait until the drain times out.',
    alert: 'BrupopDrainBlocked',
  },
  NoRoom: {
    ...FOR_LATER,
    urgency: 9,
    remedy: 'Add nodes, let the pods ask for less, or take `capacity` out of the policy.',
    alert: 'BrupopNoRoom',
  },
  PolicyInvalid: {
    ends: 'person',
    urgency: 10,
    remedy: 'Mend the policy.',
    alert: 'BrupopNoRulingPolicy',
    told: undefined,
    condition: { reason: 'PolicyInvalid', message: 'the policy or the channel that rules it cannot be obeyed' },
    is: [],
  },
  PolicyConflict: {
    ...FOR_LATER,
    urgency: 11,
    remedy: 'Give one of the policies another priority.',
    alert: 'BrupopNoRulingPolicy',
  },
  WriteRefused: {
    ends: 'person',
    urgency: 12,
    remedy:
      'Look at what the message names: a policy, webhook or right that refuses it, or an API server that is too busy.',
    alert: 'BrupopWriteRefused',
    told: undefined,
    is: [],
  },
  AgentSilent: {
    ends: 'person',
    urgency: 13,
    remedy: "Look at the agent's pod on the node.",
    alert: 'BrupopAgentSilent',
    told: undefined,
    is: ['outranking refusals', 'agentless'],
  },
  AgentMissing: {
    ends: 'person',
    urgency: 14,
    remedy: "Look at the agent's pod on the node.",
    alert: 'BrupopAgentSilent',
    told: 'agent',
    is: ['agentless'],
  },
  Reverted: {
    ends: 'person',
    urgency: 15,
    remedy: 'Look at the node, then `kubectl brupop retry NODE`; or hold it where it is to stay.',
    alert: 'BrupopUnaskedBoot',
    told: 'setback',
    is: ['failure'],
  },
  Unstable: {
    ends: 'person',
    urgency: 16,
    remedy: 'Look at the node, or hold it where it is to stay.',
    alert: 'BrupopUnaskedBoot',
    told: 'setback',
    is: ['failure'],
  },
  CannotLookForUpdates: {
    ...FOR_LATER,
    urgency: 17,
    remedy:
      'Let the host reach its update repository: https://updates.bottlerocket.aws, unless its settings name another.',
    alert: 'BrupopCannotLookForUpdates',
  },
  LockedElsewhere: {
    ...FOR_LATER,
    urgency: 18,
    remedy: "Set the host's settings.updates.version-lock to latest, or take the version out of the policy.",
  },
  NotOffered: {
    ...FOR_LATER,
    urgency: 19,
    remedy: 'Wait for its wave, let the policy ignore waves, or name another version there.',
  },
  AwaitingApproval: {
    ...FOR_LATER,
    urgency: 20,
    remedy: 'kubectl brupop approve RELEASE --policy POLICY.',
    condition: { reason: 'AwaitingApproval', message: 'its policy wants the release to be approved' },
  },
  CheckFailed: {
    ...FOR_LATER,
    urgency: 21,
    remedy: 'Look at what the check says of the node, or change the check.',
    alert: 'BrupopCheckFailed',
  },
  ShadowNotOwned: {
    ...FOR_LATER,
    urgency: 22,
    remedy: 'Delete the shadow: the agent makes it anew.',
    alert: 'BrupopShadowNotOwned',
  },
} as const satisfies Readonly<Record<string, Row>>;

/** Why a node is not being updated, or what its update is at. */
export type Reason = keyof typeof VERDICTS;
export const REASONS = Object.keys(VERDICTS) as readonly Reason[];

type Told<Kind> = { [R in Reason]: (typeof VERDICTS)[R]['told'] extends Kind ? R : never }[Reason];

/** Troubles of an update that only a person, or the node itself, can end. */
export type SetbackReason = Told<'setback'>;
export type FleetReason = Told<'fleet'>;
type ToldReason = Told<NonNullable<Row['told']>>;
export type VerdictAlert = NonNullable<(typeof VERDICTS)[Reason]['alert']>;

interface Said {
  readonly reason: Reason;
  readonly message: string;
}

const rowOf = (reason: Reason): Row => VERDICTS[reason];
/** What the condition of a node says. */
export const conditionOf = ({ reason, message }: Said): Pick<ShadowCondition, 'reason' | 'message'> =>
  rowOf(reason).condition ?? { reason, message };
export const isReason = (reason: Reason, quality: Quality): boolean => rowOf(reason).is.includes(quality);
export const isSetbackReason = (reason: Reason): reason is SetbackReason => rowOf(reason).told === 'setback';
/** Nothing is under way, and nothing is waited for. */
export const isDone = (reason: Reason): boolean => rowOf(reason).ends === 'done';
/** It waits for other nodes, its own policy's among them. Not derived: a node that waits for another policy waits for nobody's place. */
export const isQueued = (reason: Reason): boolean => rowOf(reason).ends === 'others' && reason !== 'WaitingForPolicy';
/** A person has to act. */
export const needsPerson = (reason: Reason): boolean => rowOf(reason).urgency !== undefined;

export const SETBACKS = REASONS.filter(isSetbackReason);
/** Troubles of the fleet, which people are told of once for all nodes. */
export const OF_FLEET = REASONS.filter((reason): reason is FleetReason => rowOf(reason).told === 'fleet');
export const TOLD = REASONS.filter((reason): reason is ToldReason => rowOf(reason).told !== undefined);
