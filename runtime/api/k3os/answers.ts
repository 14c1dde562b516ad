import type { Channel, Wish } from './channel.ts';
import { releaseOf } from './release.ts';
import type { ChannelCondition } from './model.ts';

/** A question to a source of releases. */
export interface Question {
  /** `owner/name`. */
  readonly repository: string;
  /** Undefined = the newest release. */
  readonly tag: string | undefined;
}

/** The answer of the source. A failed question may be asked again from `retryAt` on, milliseconds since the Unix epoch. */
export type Answer =
  | { readonly kind: 'found'; readonly tag: string }
  /** The source has no such release, or no release at all. */
  | { readonly kind: 'missing'; readonly message: string; readonly retryAt: number }
  /** The source has not answered, or the answer makes no sense. */
  | { readonly kind: 'failed'; readonly message: string; readonly retryAt: number };

/** Answers by `keyOf` of their question. */
export type Answers = ReadonlyMap<string, Answer>;

export function keyOf({ repository, tag }: Question): string {
  return `${repository} ${tag ?? 'latest'}`;
}

/** What must be known before nodes of the channel start; undefined where the channel is invalid. */
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

/** Whether the question may be asked now. @param now milliseconds since the Unix epoch */
export function isOpen(answer: Answer | undefined, now: number): boolean {
  return answer === undefined || (answer.kind !== 'found' && answer.retryAt <= now);
}

/**
 * The answers that are still needed. An answer on a named release holds as long as a channel names it. The newest release is asked for again each
 * time that it is needed.
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
 * Answers from the conditions of channels, for processes that do not ask the source. A new leader also takes found releases from there. The message
 * names their source.
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

/** Reasons of the condition `Resolved` by kind of answer. */
export const RESOLVED: Readonly<Record<Answer['kind'], string>> = {
  found: 'Found',
  missing: 'NotFound',
  failed: 'SourceUnavailable',
};

/** Message of the condition `Resolved` for a release that was found. */
export function foundMessage(repository: string, tag: string): string {
  return `${tag} is a release of ${repository}`;
}

/** The release that replaces `latest` in the spec. */
export function resolvedTag(channel: Channel, answers: Answers): string | undefined {
  const answer = channel.wish?.kind === 'latest' ? answerTo(channel, answers) : undefined;
  return answer?.kind === 'found' && releaseOf(answer.tag) ? answer.tag : undefined;
}
