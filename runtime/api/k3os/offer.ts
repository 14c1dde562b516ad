import { type Answer, answerTo, type Answers } from './answers.ts';
import type { Channel } from './channel.ts';
import type { Release } from './release.ts';

/** What k3OS nodes should run, and whether they may start on it. */
export type Offer =
  | { readonly kind: 'offered'; readonly release: Release; readonly url: string }
  /** The release is not known yet. `isAway`: the source does not answer, so this may last long. */
  | { readonly kind: 'waits'; readonly isAway: boolean; readonly release: Release | undefined; readonly why: string }
  /** A person must change a channel. */
  | {
      readonly kind: 'refused';
      readonly isConflict: boolean;
      readonly release: Release | undefined;
      readonly why: string;
    };

/** The offer of the channels; undefined where there is none. @param channels that are not being deleted, by name */
export function offerOf(channels: readonly Channel[], answers: Answers): Offer | undefined {
  const [channel, ...others] = channels;
  if (!channel) return undefined;
  if (others.length > 0)
    return { kind: 'refused', isConflict: true, release: undefined, why: conflictBetween(channels) };
  const { wish, faults, title } = channel;
  const release = wish?.kind === 'release' ? wish : undefined;
  if (faults.length === 0) return answered(channel, release, answerTo(channel, answers));
  return {
    kind: 'refused',
    isConflict: false,
    release,
    why: `channel ${title} cannot be obeyed: ${faults.join('; ')}`,
  };
}

function answered({ object, title, url }: Channel, release: Release | undefined, answer: Answer | undefined): Offer {
  if (answer?.kind === 'missing')
    return { kind: 'refused', isConflict: false, release, why: `channel ${title}: ${answer.message}` };
  if (answer?.kind === 'failed')
    return { kind: 'waits', isAway: true, release, why: `channel ${title}: ${answer.message}` };
  const isPolled = Boolean(object.status?.polling);
  if (release && answer && !isPolled) return { kind: 'offered', release, url };
  return { kind: 'waits', isAway: false, release, why: `channel ${title} is asked for its release` };
}

export function conflictBetween(channels: readonly Channel[]): string {
  return `channels select the same nodes: ${channels.map(({ title }) => title).join(', ')}`;
}
