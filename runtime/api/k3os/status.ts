import { rfc3339 } from '../../lib/clock.ts';
import { compareSemver } from '../shadow/semver.ts';
import {
  type Answer,
  answerTo,
  type Answers,
  foundMessage,
  isOpen,
  questionOf,
  RESOLVED,
  resolvedTag,
} from './answers.ts';
import type { Channel } from './channel.ts';
import type { ChannelCondition, ChannelConditionType, ChannelStatus } from './model.ts';
import { CHANNEL_API_VERSION, CHANNEL_KIND, DEFAULT_CHANNEL, DEFAULT_CHANNEL_URL, NODE_ANNOTATION } from './names.ts';
import { conflictBetween } from './offer.ts';

/** What channels need to know of a k3OS node. */
export interface ChannelNode {
  readonly name: string;
  /** The version that it runs; undefined where it is not reported. */
  readonly version: string | undefined;
  readonly ready: boolean;
  readonly updating: boolean;
}

/** Everything from which the status of channels is made. */
export interface Situation {
  /** The channels that are not being deleted, by name. */
  readonly channels: readonly Channel[];
  readonly answers: Answers;
  /** By name. */
  readonly nodes: readonly ChannelNode[];
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** The fields that the controller writes to a channel. */
export interface Shown {
  readonly status: Required<ChannelStatus>;
  /** The release that replaces `latest` in the spec. */
  readonly version: string | undefined;
}

/** Whether the source must be asked, because a node waits for the answer. */
export function asks(channel: Channel, { channels, answers, nodes, now }: Situation): boolean {
  const { wish } = channel;
  if (channels.length > 1 || !questionOf(channel) || nodes.length === 0) return false;
  const isWanted =
    wish?.kind === 'latest' || nodes.some(({ version, updating }) => updating || version !== wish?.version);
  return isWanted && isOpen(answerTo(channel, answers), now);
}

export function shownOf(channel: Channel, situation: Situation): Shown {
  const { answers, nodes } = situation;
  const version = resolvedTag(channel, answers);
  return {
    version,
    status: {
      polling:
        version === undefined && isPolling(channel, situation) ? turnOf(channel.object.status?.polling, nodes) : '',
      upgrading: nodes.filter(({ updating }) => updating).map(({ name }) => name),
      conditions: conditionsOf(channel, situation),
    },
  };
}

/** A source that does not answer counts as being asked, also between two attempts. */
function isPolling(channel: Channel, situation: Situation): boolean {
  return (
    asks(channel, situation) ||
    (answerTo(channel, situation.answers)?.kind === 'failed' && asksLater(channel, situation))
  );
}

const asksLater = (channel: Channel, situation: Situation): boolean => asks(channel, { ...situation, now: Infinity });

/** The node that is next. A node that was next stays it. */
function turnOf(before: string | null | undefined, nodes: readonly ChannelNode[]): string {
  const turn = nodes.find(({ name }) => name === before) ?? nodes.find(({ ready }) => ready) ?? nodes[0];
  return turn?.name ?? '';
}

/** The conditions. Those of other types belong to others and stay. */
function conditionsOf(channel: Channel, situation: Situation): readonly ChannelCondition[] {
  const before = channel.object.status?.conditions ?? [];
  const condition = (type: ChannelConditionType, finding: Finding): ChannelCondition => {
    const last = before.find((one) => one.type === type);
    const lastTransitionTime = last?.status === finding.status ? last.lastTransitionTime : rfc3339(situation.now);
    return { type, ...finding, lastTransitionTime };
  };
  const accepted = acceptedOf(channel, situation);
  const resolved = accepted.status === 'True' ? resolvedOf(channel, situation) : UNRESOLVED;
  const own = [condition('Accepted', accepted), condition('Resolved', resolved)];
  return [...own, ...before.filter(({ type }) => own.every((one) => one.type !== type))];
}

type Finding = Omit<ChannelCondition, 'type' | 'lastTransitionTime'>;

function acceptedOf({ faults }: Channel, { channels }: Situation): Finding {
  if (channels.length > 1) return { status: 'False', reason: 'Conflict', message: conflictBetween(channels) };
  if (faults.length > 0) return { status: 'False', reason: 'Invalid', message: faults.join('; ') };
  return { status: 'True', reason: 'Valid', message: 'every field can be obeyed' };
}

const UNRESOLVED: Finding = { status: 'Unknown', reason: 'NotAccepted', message: 'the channel cannot be obeyed' };

function resolvedOf(channel: Channel, situation: Situation): Finding {
  const answer = answerTo(channel, situation.answers);
  if (answer) return { status: KNOWN[answer.kind], reason: RESOLVED[answer.kind], message: messageOf(channel, answer) };
  const { repository, wish } = channel;
  const name = wish?.kind === 'release' ? wish.tag : 'the newest release';
  if (situation.nodes.length === 0)
    return { status: 'Unknown', reason: 'NoNodes', message: 'there is no k3OS node to run it' };
  if (asks(channel, situation))
    return { status: 'Unknown', reason: 'Asking', message: `${repository} is asked for ${name}` };
  return { status: 'True', reason: 'Running', message: `every k3OS node runs ${name}` };
}

const KNOWN: Readonly<Record<Answer['kind'], Finding['status']>> = {
  found: 'True',
  missing: 'False',
  failed: 'Unknown',
};

function messageOf({ repository = '' }: Channel, answer: Answer): string {
  return answer.kind === 'found' ? foundMessage(repository, answer.tag) : answer.message;
}

/**
 * The channel to create where there is none. It names the newest version that nodes run. If they run several versions, its concurrency is 0, so that no
 * update starts until a person changes it. Undefined where no node reports its version, and while a node is being updated: a person who deletes a
 * channel in the middle of a rollout wants the rollout to stop.
 */
export function defaultChannel(nodes: readonly ChannelNode[], namespace: string): object | undefined {
  const running = nodes.flatMap(({ name, version }) => (version === undefined ? [] : [{ name, version }]));
  const [newest] = running.toSorted((a, b) => compareSemver(b.version, a.version));
  if (!newest || nodes.some(({ updating }) => updating)) return undefined;
  const concurrency = nodes.every(({ version }) => version === newest.version) ? 1 : 0;
  return {
    apiVersion: CHANNEL_API_VERSION,
    kind: CHANNEL_KIND,
    metadata: { name: DEFAULT_CHANNEL, namespace, annotations: { [NODE_ANNOTATION]: newest.name } },
    spec: { concurrency, url: DEFAULT_CHANNEL_URL, version: `v${newest.version}` },
  };
}
