import { isDeepStrictEqual } from 'node:util';
import { type Answer, type Answers, keyOf, type Question, questionOf } from '../../api/k3os/answers.ts';
import type { Channel } from '../../api/k3os/channel.ts';
import type { ChannelStatus } from '../../api/k3os/model.ts';
import { asks, type ChannelNode, defaultChannel, type Shown, shownOf, type Situation } from '../../api/k3os/status.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { withoutNulls } from '../../lib/json.ts';
import { Wakeup } from '../../lib/wakeup.ts';
import type { OrdersParts } from '../seeing/orders.ts';
import { mapNodes } from '../plan/nodes/join.ts';
import { PHASES } from '../plan/facts/phase.ts';
import type { Snapshot } from '../plan/facts/snapshot.ts';
import { type Write, WriteQueue } from '../writing/write-queue.ts';
import type { GithubReleases } from './releases.ts';
import { isK3os } from './host-order.ts';

/** A channel is written once in this time at most: its list of nodes changes with each of them, and people can wait. */
const REST_MS = 2000;

/** What is known of the channels and of their sources. */
interface KnownChannels {
  readonly channels: readonly Channel[];
  readonly answers: Answers;
  /** Whether there is certainly no channel. */
  readonly isEmpty: boolean;
  /** @param key of the question */
  learn(key: string, answer: Answer): void;
  onChange(listener: () => void): void;
}

interface ChannelKeeperOptions extends OrdersParts {
  readonly channels: KnownChannels;
  readonly releases: Pick<GithubReleases, 'ask'>;
}

/** Asks the sources of releases for the channels whose turn it is. Writes their answers, and what the nodes do, into the channels. */
export class ChannelKeeper {
  readonly #options: ChannelKeeperOptions;
  readonly #wakeup = new Wakeup();
  /** Undefined before the first plan. */
  #nodes: readonly ChannelNode[] | undefined;
  /** Keys of the questions that are under way. */
  readonly #asking = new Set<string>();
  /** The served CRD is that of the preview and drops conditions, so nothing is written for their sake. */
  #areConditionsDropped = false;
  readonly #queue: WriteQueue;

  constructor(options: ChannelKeeperOptions) {
    this.#options = options;
    this.#queue = new WriteQueue({ ...options, what: 'its channel', atOnce: 1, restMs: REST_MS });
    options.channels.onChange(() => this.#wakeup.ring());
  }

  observe({ snapshot }: { readonly snapshot: Snapshot }): void {
    const nodes = nodesOf(snapshot);
    if (isDeepStrictEqual(nodes, this.#nodes)) return;
    this.#nodes = nodes;
    this.#wakeup.ring();
  }

  /** For one term as leader. */
  async run(signal: AbortSignal): Promise<void> {
    this.#nodes = undefined;
    await Promise.all([this.#queue.run(signal), this.#keep(signal)]);
  }

  async #keep(signal: AbortSignal): Promise<void> {
    const questions = new Set<Promise<void>>();
    while (!signal.aborted) {
      const retryAt = this.#round(questions, signal);
      await this.#wakeup.wait(this.#options.clock, retryAt, signal);
    }
    await Promise.all(questions);
  }

  /** @returns when time alone changes something, milliseconds since the Unix epoch */
  #round(questions: Set<Promise<void>>, signal: AbortSignal): number {
    const { channels, clock } = this.#options;
    if (!this.#nodes) return Infinity;
    const situation = { channels: channels.channels, answers: channels.answers, nodes: this.#nodes, now: clock.now() };
    this.#askAll(situation, questions, signal);
    this.#queue.replace(this.#due(situation));
    return retryAtOf(situation);
  }

  /** A question is asked only once the channel shows whose turn it is, so that people and other leaders see it. */
  #askAll(situation: Situation, questions: Set<Promise<void>>, signal: AbortSignal): void {
    for (const channel of situation.channels) {
      const question = questionOf(channel);
      const { polling } = shownOf(channel, situation).status;
      if (!question || !asks(channel, situation) || channel.object.status?.polling !== polling) continue;
      const key = keyOf(question);
      if (this.#asking.has(key)) continue;
      this.#asking.add(key);
      const asked = this.#ask(question, signal).finally(() => {
        this.#asking.delete(key);
        questions.delete(asked);
      });
      questions.add(asked);
    }
  }

  async #ask(question: Question, signal: AbortSignal): Promise<void> {
    const { releases, channels, logger } = this.#options;
    try {
      const answer = await releases.ask(question, signal);
      if (answer.kind !== 'found') logger.warn('no release found', { question: keyOf(question), why: answer.message });
      channels.learn(keyOf(question), answer);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #due(situation: Situation): readonly Write[] {
    const { channels, objects, config } = this.#options;
    const made = channels.isEmpty ? defaultChannel(situation.nodes, config.K3OS_NAMESPACE) : undefined;
    if (made) return [{ key: '', write: async (signal) => versionOf(await objects.create(made, signal)) }];
    return situation.channels.flatMap((channel) => {
      const { name, uid, resourceVersion } = channel.object.metadata;
      const patch = this.#patchOf(channel, shownOf(channel, situation));
      if (!patch) return [];
      const write: Write['write'] = async (signal) => {
        const { metadata, status } = await objects.patch(name, patch, signal);
        this.#areConditionsDropped = (status as ChannelStatus | null)?.conditions == null;
        return versionOf({ metadata });
      };
      return [{ key: uid, seen: resourceVersion, write }];
    });
  }

  /** What makes the channel show what it should; undefined where it does. */
  #patchOf({ object }: Channel, { status, version }: Shown): object | undefined {
    const { conditions, ...lasting } = status;
    const wanted = this.#areConditionsDropped ? lasting : { ...lasting, conditions };
    const isShown = isDeepStrictEqual(withoutNulls(object.status ?? {}), withoutNulls(wanted));
    if (isShown && version === undefined) return undefined;
    const { resourceVersion } = object.metadata;
    return { metadata: { resourceVersion }, status, ...(version !== undefined && { spec: { version } }) };
  }
}

const versionOf = ({ metadata }: KubeObject): string => metadata.resourceVersion;

/** When the next question may be asked. One that may be asked already is under way or waits for the channel's status: both wake the loop. */
function retryAtOf({ answers, now }: Pick<Situation, 'answers' | 'now'>): number {
  const times = [...answers.values()].flatMap((answer) => (answer.kind === 'found' ? [] : [answer.retryAt]));
  return Math.min(...times.filter((retryAt) => retryAt > now));
}

function nodesOf(snapshot: Snapshot): readonly ChannelNode[] {
  return mapNodes(snapshot, ({ node: { name, ready, version, managed, labels }, shadow, permit, phase }) => {
    if (!managed || !isK3os(labels)) return [];
    const updating = permit !== undefined || PHASES[phase.kind].isUnderWay;
    return { name, ready, version: shadow?.status?.current_version ?? version, updating };
  }).flat();
}
