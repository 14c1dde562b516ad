import type { AgentApi } from '../agentapi/client.ts';
import { aborted, childAbort } from '../lib/abort.ts';
import type { Clock } from '../lib/clock.ts';
import { Latest } from '../lib/latest.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { backoff } from '../lib/retry.ts';
import type { ShadowObject } from '../kube/objects.ts';
import type { View } from './decide.ts';
import { isDeadMount } from './failure.ts';
import type { HostUpdater } from './host/port.ts';
import { work } from './loop.ts';
import { type AgentTimes, Session } from './session.ts';

export interface AgentOptions {
  readonly nodeName: string;
  /** The UID of the Node of this name, live; undefined where there is none. */
  readonly nodeUid: (signal: AbortSignal) => Promise<string | undefined>;
  /** Whether the Node, live, bears the proof of a drain that has not been undone. */
  readonly isDrained: (signal: AbortSignal) => Promise<boolean>;
  /** The node's shadow as it changes; undefined while there is none. Waits outages of the API out. */
  readonly watchShadow: (signal: AbortSignal) => AsyncIterable<ShadowObject | undefined>;
  readonly host: HostUpdater;
  readonly api: AgentApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly times: AgentTimes;
}

export interface Agent {
  /** It knows its node, its host and its shadow, and acts. */
  readonly ready: boolean;
  /**
   * Works until `signal` aborts, and rejects with its reason then. Resolves with a sentence for the termination log when only a new
   * container can help. Rejects with anything else for a programmer's error alone.
   */
  run(signal: AbortSignal): Promise<string>;
}

/** One node's agent, without sockets or files of its own: a simulation runs many of them in one process. */
export function createAgent(options: AgentOptions): Agent {
  let ready = false;
  return {
    get ready() {
      return ready;
    },
    async run(signal) {
      const life = childAbort(signal);
      try {
        return await live(options, { signal: life.signal, onReady: () => void (ready = true) });
      } catch (error) {
        if (!isDeadMount(error)) throw error;
        return `${error.message}: the mount of the host's socket is dead, and only a new container gets a live one`;
      } finally {
        ready = false;
        life.abort(new Error('the agent has ended'));
        life.release();
      }
    },
  };
}

interface Life {
  readonly signal: AbortSignal;
  readonly onReady: () => void;
}

async function live(options: AgentOptions, { signal, onReady }: Life): Promise<never> {
  const { host } = options;
  const readUid = (): Promise<string> => nodeUidNow(options, signal);
  const shadows = options.watchShadow(signal)[Symbol.asyncIterator]();
  const [nodeUid, os, bootId, first] = await Promise.all([
    persist(options, signal, readUid),
    persist(options, signal, () => host.os(signal)),
    persist(options, signal, () => host.bootId()),
    shadows.next(),
  ]);
  const view = new Latest<View>({ nodeUid, bootId, version: os.version, shadow: first.value ?? undefined });
  const identify = async (): Promise<void> => {
    const uid = await readUid().catch(() => view.value.nodeUid);
    if (uid !== view.value.nodeUid) view.set({ ...view.value, nodeUid: uid });
  };
  onReady();
  return Promise.race([watch(shadows, view, signal), work(new Session({ ...options, view, identify }), signal)]);
}

async function watch(
  shadows: AsyncIterator<ShadowObject | undefined>,
  view: Latest<View>,
  signal: AbortSignal,
): Promise<never> {
  for (let next = await shadows.next(); !next.done; next = await shadows.next()) {
    view.set({ ...view.value, shadow: next.value });
  }
  return aborted(signal);
}

async function nodeUidNow({ nodeUid, nodeName }: AgentOptions, signal: AbortSignal): Promise<string> {
  const uid = await nodeUid(signal);
  if (uid === undefined) throw new Error(`there is no Node ${nodeName}`);
  return uid;
}

/** What the agent cannot begin without is asked for until it is there: an outage of another part is no reason to exit. */
async function persist<T>(
  { clock, random, logger }: AgentOptions,
  signal: AbortSignal,
  ask: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted || isDeadMount(error)) throw error;
      logger.warn('cannot begin yet', { error, attempt });
      await clock.sleep(backoff(attempt, { firstMs: 200, maxMs: 30_000, random }), signal);
    }
  }
}
