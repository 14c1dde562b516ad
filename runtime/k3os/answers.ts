import type { Channel, Wish } from './channel.ts';
import { releaseOf } from './release.ts';
import type { ChannelCondition } from './model.ts';

/** What a source of releases is asked. */
export interface Question {
  /** `owner/name`. */
  readonly repository: string;
  /** Undefined = the newest release. */
  readonly tag: string | undefined;
}

/** What it has answered. What has failed is asked again, but not before `retryAt`, in milliseconds since the Unix epoch. */
export type Answer =
  | { readonly kind: 'found'; readonly tag: string }
  /** It has no such release, or none at all. */
  | { readonly kind: 'missing'; readonly message: string; readonly retryAt: number }
  /** It has given no answer, or none that means anything. */
  | { readonly kind: 'failed'; readonly message: string; readonly retryAt: number };

/** By `keyOf` of the question. */
export type Answers = ReadonlyMap<string, Answer>;

export function keyOf({ repository, tag }: Question): string {
  return `${repository} ${tag ?? 'latest'}`;
}

/** What has to be known before nodes of the channel start; undefined where it cannot be obeyed. */
export function questionOf({ faults, repository, wish }: Channel): Question | undefined {
  if (faults.length > 0 || repository === undefined || !wish) return undefined;
  return { repository, tag: tagOf(wish) };
}

function tagOf(wish: Wish): string | undefined {
  return wish.kind === 'release' ? wish.tag : undefined;
}

export function answerTo(channel: Channel, answers: Answers): Answer | undefined {
  const question = questionOf(channel);
  return question && answers.get(keyOf(question));
}

/** Whether the source is to be asked now. @param now milliseconds since the Unix epoch */
export function isOpen(answer: Answer | undefined, now: number): boolean {
  return answer === undefined || (answer.kind !== 'found' && answer.retryAt <= now);
}

/**
 * The answers that are still of use. That a release is there stays known for as long as a channel names it; which one is the newest is asked anew
 * each time that somebody wants to know.
 */
export function kept(answers: Answers, channels: readonly Channel[]): ReadonlyMap<string, Answer> {
  const known = new Map<string, Answer>();
  for (const channel of channels) {
    const question = questionOf(channel);
    const answer = question && answers.get(keyOf(question));
    if (!question || !answer) continue;
    known.set(keyOf(question), answer);
    if (answer.kind === 'found') known.set(keyOf({ ...question, tag: answer.tag }), answer);
  }
  return known;
}

/**
 * What the conditions of channels say that a source has answered, for processes that ask nobody. That a release was found is believed by a new
 * leader as well: the message says of which source.
 */
export function statedAnswers(channels: readonly Channel[], all = false): ReadonlyMap<string, Answer> {
  const stated = new Map<string, Answer>();
  for (const channel of channels) {
    const question = questionOf(channel);
    const condition = channel.object.status?.conditions?.find(({ type }) => type === 'Resolved');
    const answer = question && condition && statedAnswer(question, condition);
    if (answer && (all || answer.kind === 'found')) stated.set(keyOf(question), answer);
  }
  return stated;
}

function statedAnswer({ repository, tag }: Question, { reason, message }: ChannelCondition): Answer | undefined {
  if (reason === RESOLVED.missing) return { kind: 'missing', message, retryAt: Infinity };
  if (reason === RESOLVED.failed) return { kind: 'failed', message, retryAt: Infinity };
  const isFound = reason === RESOLVED.found && tag !== undefined && message === foundMessage(repository, tag);
  return isFound ? { kind: 'found', tag } : undefined;
}

/** Reasons of the condition `Resolved`, where there is an answer. */
export const RESOLVED: Readonly<Record<Answer['kind'], string>> = {
  found: 'Found',
  missing: 'NotFound',
  failed: 'SourceUnavailable',
};

/** What the condition `Resolved` says where the release was found. */
export function foundMessage(repository: string, tag: string): string {
  return `${tag} is a release of ${repository}`;
}

/** The name that takes the place of `latest`. */
export function resolvedTag(channel: Channel, answers: Answers): string | undefined {
  const answer = channel.wish?.kind === 'latest' ? answerTo(channel, answers) : undefined;
  return answer?.kind === 'found' && releaseOf(answer.tag) ? answer.tag : undefined;
}
