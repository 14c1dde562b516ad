import { type Answer, type Answers, kept, statedAnswers } from '../../k3os/answers.ts';
import { type Channel, readChannel } from '../../k3os/channel.ts';
import type { ChannelObject } from '../../k3os/model.ts';
import { offerOf } from '../../k3os/offer.ts';
import type { UpdatePolicy } from '../../policy/policy.ts';
import type { Orders, OrdersParts } from '../orders.ts';
import type { Told } from '../plan/snapshot.ts';
import { compare } from '../plan/snapshot.ts';
import { ChannelKeeper } from './keeper.ts';
import { GithubReleases } from './releases.ts';
import { isK3os, isThere, policyOf, toldBy, unchanged } from './told.ts';

/** For so long a watch may fail before what it has brought is no longer believed, as with policies. */
const BELIEVED_MS = 600_000;

/** What k3OS nodes are to run, by the UpdateChannels of a cluster. */
export class Channels {
  readonly #parts: OrdersParts;
  readonly #listeners = new Set<() => void>();
  #answers: Answers = new Map();
  #channels: readonly Channel[] = [];
  #policies: readonly UpdatePolicy[] = [];
  #told: Told;

  constructor(parts: OrdersParts) {
    this.#parts = parts;
    this.#told = toldBy(undefined, this.#unread);
    parts.informer.onChange(() => this.#look());
    parts.onOutage(() => this.#look());
  }

  get told(): Told {
    return this.#told;
  }

  get policies(): readonly UpdatePolicy[] {
    return this.#policies;
  }

  /** Those that are not being deleted, by name. Nothing is known of them before the first list. */
  get channels(): readonly Channel[] {
    return this.#channels;
  }

  get answers(): Answers {
    return this.#answers;
  }

  /** Whether it is known that there is none, not even one that is being deleted. */
  get isEmpty(): boolean {
    return this.#unread === undefined && this.#parts.informer.items().size === 0;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What a source has answered. @param key of the question */
  learn(key: string, answer: Answer): void {
    this.#answers = new Map([...this.#answers, [key, answer]]);
    this.#look();
  }

  #look(): void {
    const { informer, variables } = this.#parts;
    const objects = [...informer.items().values()] as readonly ChannelObject[];
    const known = new Map(this.#channels.map((channel) => [channel.object, channel]));
    this.#channels = objects
      .filter(isThere)
      .map((object) => known.get(object) ?? readChannel(object))
      .toSorted((a, b) => compare(a.title, b.title));
    // What an earlier leader has found out stands in the conditions.
    this.#answers = kept(new Map([...statedAnswers(this.#channels), ...this.#answers]), this.#channels);
    const told = toldBy(offerOf(this.#channels, this.#answers), this.#unread);
    this.#told = unchanged(this.#told, told);
    const before = new Map(this.#policies.map((policy) => [policy.name, policy]));
    this.#policies = this.#channels.map((channel) => {
      const policy = policyOf(channel, variables);
      return unchanged(before.get(policy.name) ?? policy, policy);
    });
    for (const listener of this.#listeners) listener();
  }

  get #unread(): string | undefined {
    const { informer, clock, answerOf } = this.#parts;
    const { isSynced, outage } = informer;
    if (!outage) return isSynced ? undefined : 'the channels have not been read yet';
    const isBelieved = isSynced && clock.monotonic() - outage.since < BELIEVED_MS;
    return isBelieved ? undefined : `the list of channels ${answerOf(outage.error)}`;
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
    told: () => channels.told,
    policies: () => channels.policies,
    onChange: (listener) => channels.onChange(listener),
    run: (signal) => parts.informer.run(signal),
    lead: (signal) => keeper.run(signal),
    observe: (preview) => keeper.observe(preview),
  };
}
