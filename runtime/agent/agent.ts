import { askForLooks } from './looks.ts';
import type { AgentApi } from './apiserver/client.ts';
import type { Basics } from '../lib/basics.ts';
import { aborted, childAbort } from '../lib/abort.ts';
import { Latest } from '../lib/latest.ts';
import type { ShadowObject } from '../api/resources.ts';
import { retry } from '../lib/retry.ts';
import { isSemver } from '../api/shadow/semver.ts';
import { RetryingClient, NotAcceptedError } from './apiserver/retrying-client.ts';
import type { View } from './decide.ts';
import { isDeadMount } from './hosts/errors.ts';
import type { HostUpdater } from './hosts/port.ts';
import { runSteps } from './loop.ts';
import type { AgentTimes, OwnNode } from './steps/context.ts';
import { HostWork } from './steps/host-work.ts';
import { Offers } from './steps/offers.ts';

export interface AgentOptions extends Basics {
  readonly nodeName: string;
  /** The Node of this name, live; undefined where there is none. */
  readonly readNode: (signal: AbortSignal) => Promise<OwnNode | undefined>;
  /** Yields the node's shadow each time it changes, and undefined while there is none. It continues after outages of the API. */
  readonly watchShadow: (signal: AbortSignal) => AsyncIterable<ShadowObject | undefined>;
  readonly host: HostUpdater;
  readonly api: AgentApi;
  readonly times: AgentTimes;
}

export interface Agent {
  /** The agent knows its node, its host and its shadow, and acts on them. */
  readonly ready: boolean;
  /**
   * Works until `signal` aborts, and then rejects with its reason. Resolves with a sentence for the termination log when only a new
   * container can help. Any other rejection is a bug.
   */
  run(signal: AbortSignal): Promise<string>;
}

/** One node's agent. It has no sockets or files of its own, so that a simulation can run many agents in one process. */
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
        if (error instanceof NotAcceptedError) return error.message;
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
  const takeOrder = (shadow: ShadowObject | undefined): void => host.takeOrder?.(shadow?.metadata.annotations ?? {});
  const readUid = (): Promise<string> => liveUid(options, signal);
  const shadows = options.watchShadow(signal)[Symbol.asyncIterator]();
  const [nodeUid, version, bootId, first] = await Promise.all([
    untilAnswered(options, signal, readUid),
    untilAnswered(options, signal, () => runningVersion(host, signal)),
    untilAnswered(options, signal, () => host.bootId()),
    shadows.next(),
  ]);
  takeOrder(first.value ?? undefined);
  const view = new Latest<View>({ nodeUid, bootId, version, shadow: first.value ?? undefined });
  const apiserver = new RetryingClient({ ...options, view, readUid });
  onReady();
  return Promise.race([
    watch(shadows, { view, takeOrder }, signal),
    askForLooks({ ...options, view }, signal),
    runSteps({ ...options, view, apiserver, hostWork: new HostWork(options), offers: new Offers(options) }, signal),
  ]);
}

async function watch(
  shadows: AsyncIterator<ShadowObject | undefined>,
  { view, takeOrder }: { readonly view: Latest<View>; readonly takeOrder: (shadow: ShadowObject | undefined) => void },
  signal: AbortSignal,
): Promise<never> {
  for (let next = await shadows.next(); !next.done; next = await shadows.next()) {
    takeOrder(next.value);
    view.set({ ...view.value, shadow: next.value });
  }
  return aborted(signal);
}

/** A status that names what is no version would be refused for ever. */
async function runningVersion(host: HostUpdater, signal: AbortSignal): Promise<string> {
  const { version } = await host.os(signal);
  if (!isSemver(version)) throw new Error(`the host runs ${JSON.stringify(version)}, which is no version`);
  return version;
}

async function liveUid({ readNode, nodeName }: AgentOptions, signal: AbortSignal): Promise<string> {
  const node = await readNode(signal);
  if (!node) throw new Error(`there is no Node ${nodeName}`);
  return node.uid;
}

/** The agent asks for what it needs to begin until it gets it: an outage of another part is no reason to exit. */
function untilAnswered<T>(
  { clock, random, logger }: AgentOptions,
  signal: AbortSignal,
  ask: () => Promise<T>,
): Promise<T> {
  return retry(ask, {
    clock,
    random,
    signal,
    firstMs: 200,
    maxMs: 30_000,
    isTransient: (error) => !isDeadMount(error),
    onRetry: (error, failures) => logger.warn('cannot begin yet', { error, failures }),
  });
}
