import { isDeepStrictEqual } from 'node:util';
import { statedAnswers } from '../../api/k3os/answers.ts';
import { type Channel, readChannel } from '../../api/k3os/channel.ts';
import type { ChannelObject } from '../../api/k3os/model.ts';
import { CHANNEL_ANNOTATION, K3OS_NODES, VERSION_ANNOTATION } from '../../api/k3os/names.ts';
import { type Offer, offerOf } from '../../api/k3os/offer.ts';
import { selects } from '../../lib/selector.ts';
import type { UpdatePolicy } from '../../api/policy/policy.ts';
import { MOST_AT_ONCE } from '../../api/policy/quantity.ts';
import type { Orders } from '../seeing/orders.ts';
import type { HostOrder } from '../plan/facts/snapshot.ts';
import { type Finding, found, type Stop } from '../plan/facts/verdict.ts';

/** What channels mean for a plan: an order to hosts, and a policy. */

export function isK3os(labels: Readonly<Record<string, string>>): boolean {
  return selects(K3OS_NODES, labels);
}

/** @param lost why the channels are not known; undefined where they are */
export function hostOrderOf(offer: Offer | undefined, lost: string | undefined): HostOrder {
  const release = offer?.release;
  const stop = stopOf(offer, lost);
  if (offer?.kind === 'offered' && !stop)
    return { version: offer.release.version, stop, annotations: annotationsOf(offer) };
  if (release && stop) return { version: release.version, stop, annotations: {} };
  return { version: undefined, stop: stop ?? stopBy('call-off', NO_CHANNEL), annotations: undefined };
}

function stopOf(offer: Offer | undefined, lost: string | undefined): Stop | undefined {
  if (lost !== undefined) return stopBy('wait', found('NotCurrent', lost));
  if (!offer || offer.kind === 'offered') return undefined;
  // A node that waits until a source is back would hold a permit that others need.
  if (offer.kind === 'waits') return stopBy(offer.isAway ? 'call-off' : 'wait', found('WaitingForPolicy', offer.why));
  return stopBy('call-off', found(offer.isConflict ? 'PolicyConflict' : 'PolicyInvalid', offer.why));
}

const stopBy = (kind: Stop['kind'], because: Finding): Stop => ({ kind, because });

const NO_CHANNEL = found('NoUpdateOffered', 'there is no channel that says which release the node is to run');

function annotationsOf({ release, url }: Extract<Offer, { kind: 'offered' }>): Readonly<Record<string, string>> {
  return { [CHANNEL_ANNOTATION]: url, [VERSION_ANNOTATION]: release.tag };
}

/** The policy that a channel stands for. It says how many nodes may be updating at once; everything else is as the variables have it. */
export function channelPolicy({ title, concurrency }: Channel, variables: UpdatePolicy): UpdatePolicy {
  return {
    ...variables,
    name: title,
    selector: K3OS_NODES,
    // The same as a policy that states none. Where both select a node they are in conflict, and a person has to decide.
    priority: 0,
    paused: concurrency === 0,
    maxConcurrent: { kind: 'count', count: Math.min(Math.max(concurrency, 1), MOST_AT_ONCE) },
  };
}

/** The orders by the channels alone, for a process that asks no source: it goes by their conditions. @param unread as above */
export function statedOrders(
  objects: readonly ChannelObject[],
  { unread, variables }: { readonly unread: string | undefined; readonly variables: UpdatePolicy },
): Pick<Orders, 'manages' | 'order' | 'policies'> {
  const channels = objects.filter(isThere).map(readChannel);
  const order = hostOrderOf(offerOf(channels, statedAnswers(channels, true)), unread);
  const policies = channels.map((channel) => channelPolicy(channel, variables));
  return { manages: isK3os, order: () => order, policies: () => policies };
}

/** A channel that is being deleted says nothing any more. */
export function isThere({ metadata }: ChannelObject): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** `before` where `next` says the same, so that an unchanged value stays the same object. */
export function unchanged<T>(before: T, next: T): T {
  return isDeepStrictEqual(before, next) ? before : next;
}
