import { isDeepStrictEqual } from 'node:util';
import { statedAnswers } from '../../k3os/answers.ts';
import { type Channel, readChannel } from '../../k3os/channel.ts';
import type { ChannelObject } from '../../k3os/model.ts';
import { CHANNEL_ANNOTATION, K3OS_NODES, VERSION_ANNOTATION } from '../../k3os/names.ts';
import { type Offer, offerOf } from '../../k3os/offer.ts';
import { selects } from '../../lib/selector.ts';
import type { UpdatePolicy } from '../../policy/policy.ts';
import { MOST_AT_ONCE } from '../../policy/quantity.ts';
import type { Orders } from '../orders.ts';
import type { Told } from '../plan/snapshot.ts';
import { type Finding, found, type Stop } from '../plan/verdict.ts';

/** What channels are to a plan. */

export function isK3os(labels: Readonly<Record<string, string>>): boolean {
  return selects(K3OS_NODES, labels);
}

/** @param unread why the channels are not known; undefined where they are */
export function toldBy(offer: Offer | undefined, unread: string | undefined): Told {
  const release = offer?.release;
  const stop = stopOf(offer, unread);
  if (offer?.kind === 'offered' && !stop)
    return { version: offer.release.version, stop, annotations: annotationsOf(offer) };
  if (release && stop) return { version: release.version, stop, annotations: {} };
  return { version: undefined, stop: stop ?? call('call-off', NO_CHANNEL), annotations: undefined };
}

function stopOf(offer: Offer | undefined, unread: string | undefined): Stop | undefined {
  if (unread !== undefined) return call('wait', found('PolicyInvalid', unread));
  if (!offer || offer.kind === 'offered') return undefined;
  // A node that waited for a source to come back would take a slot that others need.
  if (offer.kind === 'waits') return call(offer.isAway ? 'call-off' : 'wait', found('WaitingForPolicy', offer.why));
  return call('call-off', found(offer.isConflict ? 'PolicyConflict' : 'PolicyInvalid', offer.why));
}

const call = (kind: Stop['kind'], because: Finding): Stop => ({ kind, because });

const NO_CHANNEL = found('NoUpdateOffered', 'there is no channel that says which release the node is to run');

function annotationsOf({ release, url }: Extract<Offer, { kind: 'offered' }>): Readonly<Record<string, string>> {
  return { [CHANNEL_ANNOTATION]: url, [VERSION_ANNOTATION]: release.tag };
}

/** How many of the nodes may be updating at once. What a channel does not say is as the variables have it. */
export function policyOf({ title, concurrency }: Channel, variables: UpdatePolicy): UpdatePolicy {
  return {
    ...variables,
    name: title,
    selector: K3OS_NODES,
    // As that of a policy that states none: of the two, somebody has to say which one rules.
    priority: 0,
    paused: concurrency === 0,
    maxConcurrent: { kind: 'count', count: Math.min(Math.max(concurrency, 1), MOST_AT_ONCE) },
  };
}

/** The orders that channels state, for a process that asks no source: what their conditions say is believed. @param unread as above */
export function statedOrders(
  objects: readonly ChannelObject[],
  { unread, variables }: { readonly unread: string | undefined; readonly variables: UpdatePolicy },
): Pick<Orders, 'manages' | 'told' | 'policies'> {
  const channels = objects.filter(isThere).map(readChannel);
  const told = toldBy(offerOf(channels, statedAnswers(channels, true)), unread);
  const policies = channels.map((channel) => policyOf(channel, variables));
  return { manages: isK3os, told: () => told, policies: () => policies };
}

/** A channel that is being deleted says nothing any more. */
export function isThere({ metadata }: ChannelObject): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** `next`, or what was there before where that says the same. */
export function unchanged<T>(before: T, next: T): T {
  return isDeepStrictEqual(before, next) ? before : next;
}
