import { type Answer, type Answers, kept, statedAnswers } from '../../api/k3os/answers.ts';
import { type Channel, readChannel } from '../../api/k3os/channel.ts';
import type { ChannelObject } from '../../api/k3os/model.ts';
import { offerOf } from '../../api/k3os/offer.ts';
import type { UpdatePolicy } from '../../api/policy/policy.ts';
import type { Orders, OrdersParts } from '../seeing/orders.ts';
import type { HostOrder } from '../plan/facts/snapshot.ts';
import { compare } from '../plan/facts/snapshot.ts';
import { ChannelKeeper } from './keeper.ts';
import { GithubReleases } from './releases.ts';
import { channelPolicy, hostOrderOf, isK3os, isThere, unchanged } from './host-order.ts';

/** What k3OS nodes should run, by the UpdateChannels of a cluster. */
class Channels {
  readonly #parts: OrdersParts;
  readonly #listeners = new Set<() => void>();
  #answers: Answers = new Map();
  #channels: readonly Channel[] = [];
  #policies: readonly UpdatePolicy[] = [];
  #order: HostOrder;

  constructor(parts: OrdersParts) {
    this.#parts = parts;
    this.#order = hostOrderOf(undefined, parts.freshness.lost);
    parts.informer.onChange(() => this.#look());
    parts.freshness.onChange(() => this.#look());
  }

  get order(): HostOrder {
    return this.#order;
  }

  get policies(): readonly UpdatePolicy[] {
    return this.#policies;
  }

  /** Channels that are not being deleted, by name; empty before the first list. */
  get channels(): readonly Channel[] {
    return this.#channels;
  }

  get answers(): Answers {
    return this.#answers;
  }

  /** Whether there is certainly no channel, not even one that is being deleted. */
  get isEmpty(): boolean {
    return this.#parts.freshness.lost === undefined && this.#parts.informer.items().size === 0;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes the answer of a source. @param key of the question */
  learn(key: string, answer: Answer): void {
    this.#answers = new Map([...this.#answers, [key, answer]]);
    this.#look();
  }

  #look(): void {
    const { informer, variables, freshness } = this.#parts;
    const objects = [...informer.items().values()] as readonly ChannelObject[];
    const known = new Map(this.#channels.map((channel) => [channel.object, channel]));
    this.#channels = objects
      .filter(isThere)
      .map((object) => known.get(object) ?? readChannel(object))
      .toSorted((a, b) => compare(a.title, b.title));
    // The conditions say what earlier leaders have found out.
    this.#answers = kept(new Map([...statedAnswers(this.#channels), ...this.#answers]), this.#channels);
    const order = hostOrderOf(offerOf(this.#channels, this.#answers), freshness.lost);
    this.#order = unchanged(this.#order, order);
    const before = new Map(this.#policies.map((policy) => [policy.name, policy]));
    this.#policies = this.#channels.map((channel) => {
      const policy = channelPolicy(channel, variables);
      return unchanged(before.get(policy.name) ?? policy, policy);
    });
    for (const listener of this.#listeners) listener();
  }
}

/** The orders of k3OS nodes. */
export function channelOrders(
  parts: OrdersParts,
  releases: Pick<GithubReleases, 'ask'> = new GithubReleases({ ...parts, baseUrl: parts.config.K3OS_RELEASES_URL }),
): Orders {
  const channels = new Channels(parts);
  const keeper = new ChannelKeeper({ ...parts, channels, releases });
  return {
    manages: isK3os,
    order: () => channels.order,
    policies: () => channels.policies,
    onChange: (listener) => channels.onChange(listener),
    run: (signal) => parts.informer.run(signal),
    lead: (signal) => keeper.run(signal),
    observe: (preview) => keeper.observe(preview),
  };
}
