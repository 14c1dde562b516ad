import { clusterView } from '../../../runtime/agent/cluster.ts';
import type { HostTransport } from '../../../runtime/agent/hosts/bottlerocket/calls.ts';
import type { RoundTrip } from '../../../runtime/agent/apiserver/client.ts';
import { HEADERS, PATHS } from '../../../runtime/api/agent/protocol.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import { silentLogger } from '../../../runtime/lib/log.ts';
import type { ShadowObject } from '../../../runtime/api/resources.ts';
import { type Clock, rfc3339 } from '../../../runtime/lib/clock.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import type { Status } from '../../../runtime/api/shadow/model.ts';
import { NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import type { WireStatus } from '../../sim/hosts/update-status.ts';
import type { Program } from '../programs.ts';

const LOOK_MS = 5000;
const REFRESH_MS = 120_000;
/** What it is told to wait for after its node is excluded from load balancers, where it is told so. */
const EXCLUDED_MS = 30_000;
/** It asks again for as long where the host's lock is held, and never looks whether what it asked for was done. */
const LOCKED = { tries: 60, pauseMs: 5000 };

type Five = Pick<
  Status,
  'current_version' | 'target_version' | 'current_state' | 'crash_count' | 'state_transition_failure_timestamp'
>;

interface UpstreamParts {
  readonly nodeName: string;
  readonly nodeUid: string;
  readonly host: HostTransport;
  readonly exchange: RoundTrip;
  readonly token: () => string;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

interface UpstreamAgentOptions extends Omit<UpstreamParts, 'nodeUid' | 'host'> {
  readonly transport: KubeTransport;
  /** The way to the host's API. */
  readonly connect: () => HostTransport;
}

/**
 * The older operator's agent, as its behaviour was recorded: it knows five fields of a status, goes where spec says, activates as it prepares,
 * keeps no record of a reboot, and puts every failure down as one more crash.
 */
export async function runUpstreamAgent({ transport, connect, ...parts }: UpstreamAgentOptions): Promise<never> {
  const { nodeName, clock, random, signal } = parts;
  const view = clusterView({ transport, namespace: NAMESPACE, nodeName, clock, random, logger: silentLogger });
  const nodeUid = await uidOf(view, { clock, signal });
  const agent = new UpstreamAgent({ ...parts, nodeUid, host: connect() });
  const watch = async (): Promise<never> => {
    for await (const shadow of view.watchShadow(signal)) agent.shadow = shadow;
    throw new Error('the watch has ended');
  };
  return Promise.race([watch(), agent.run()]);
}

export const upstreamAgent: Program = async ({ container, member, network, clock, random, signal }) => {
  const { node: nodeName, host } = container;
  if (!host) throw new Error('an agent has a host');
  return runUpstreamAgent({
    nodeName,
    transport: network.kube(member),
    connect: () => network.host(member, host.connect(clock)),
    exchange: network.exchange(member),
    token: () => host.token(),
    clock,
    random,
    signal,
  });
};

/** A Node that is not there, or cannot be read, is looked for again. */
async function uidOf(
  view: Pick<ReturnType<typeof clusterView>, 'readNode'>,
  { clock, signal }: Pick<UpstreamParts, 'clock' | 'signal'>,
): Promise<string> {
  for (;;) {
    const uid = (await view.readNode(signal).catch(() => undefined))?.uid;
    signal.throwIfAborted();
    if (uid !== undefined) return uid;
    await clock.sleep(LOOK_MS, signal);
  }
}

class UpstreamAgent {
  /** As last seen. */
  shadow: ShadowObject | undefined;
  readonly #parts: UpstreamParts;
  /** `EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC` is set. */
  readonly #excludes: boolean;
  #refreshedAt = -Infinity;

  constructor(parts: UpstreamParts) {
    this.#parts = parts;
    this.#excludes = parts.random() < 0.5;
  }

  async run(): Promise<never> {
    const { clock, signal } = this.#parts;
    for (;;) {
      await clock.sleep(LOOK_MS, signal);
      // What the apiserver or the host does not answer is asked for again at the next look.
      await this.#look().catch(() => undefined);
      signal.throwIfAborted();
    }
  }

  async #look(): Promise<void> {
    const { shadow } = this;
    if (!shadow) return this.#ask('POST', PATHS.resource);
    const { spec, status } = shadow;
    if (!status) return this.#put({ current_state: 'Idle', crash_count: 0 });
    if (status.current_state === 'ErrorReset' && spec.state !== 'Idle') return;
    if (spec.state === status.current_state) return this.#refresh(status);
    try {
      await this.#go(shadow, status);
    } catch {
      const failed = { crash_count: status.crash_count + 1, current_state: 'ErrorReset' } as const;
      await this.#put({ ...failed, state_transition_failure_timestamp: rfc3339(this.#parts.clock.now()) });
    }
  }

  /** Does what spec asks for, and reports that state. */
  async #go({ spec }: ShadowObject, { crash_count, current_state: from }: Status): Promise<void> {
    switch (spec.state) {
      case 'StagedAndPerformedUpdate':
        await this.#host('POST', '/actions/prepare-update');
        await this.#host('POST', '/actions/activate-update');
        break;
      case 'RebootedIntoUpdate':
        if ((await this.#version()) !== spec.version) return this.#reboot();
        await this.#release();
        break;
      case 'MonitoringUpdate':
        await this.#ask('POST', PATHS.uncordon);
        break;
      case 'ErrorReset':
      case 'Idle':
        if (from === 'ErrorReset') await this.#release();
    }
    await this.#put({ current_state: spec.state, crash_count: from === 'MonitoringUpdate' ? 0 : crash_count });
  }

  /** Reports nothing: after the boot another one finds where it is. */
  async #reboot(): Promise<void> {
    const { clock, signal } = this.#parts;
    if (this.#excludes) {
      await this.#ask('POST', PATHS.excludeFromLb);
      await clock.sleep(EXCLUDED_MS, signal);
    }
    await this.#ask('POST', PATHS.cordonAndDrain);
    await this.#host('POST', '/actions/reboot');
    await clock.sleep(600_000, signal);
    throw new Error('the host has not rebooted');
  }

  async #release(): Promise<void> {
    await this.#ask('POST', PATHS.removeExclusionFromLb);
    await this.#ask('POST', PATHS.uncordon);
  }

  /** Has the host look for updates now and then, and says what it has found. */
  async #refresh({ current_state, crash_count, current_version, target_version }: Status): Promise<void> {
    const { clock } = this.#parts;
    if (current_state !== 'Idle' || clock.monotonic() - this.#refreshedAt < REFRESH_MS) return;
    this.#refreshedAt = clock.monotonic();
    await this.#host('POST', '/actions/refresh-updates');
    const [current, target] = await this.#versions();
    if (current !== current_version || target !== target_version) await this.#put({ current_state, crash_count });
  }

  async #put(known: Pick<Five, 'current_state' | 'crash_count'> & Partial<Five>): Promise<void> {
    const [current_version, target_version] = await this.#versions();
    const failed = this.shadow?.status?.state_transition_failure_timestamp ?? null;
    const status: Five = { current_version, target_version, state_transition_failure_timestamp: failed, ...known };
    await this.#ask('PUT', PATHS.resource, JSON.stringify(status));
  }

  async #version(): Promise<string> {
    return (JSON.parse(await this.#host('GET', '/os')) as { version_id: string }).version_id;
  }

  async #versions(): Promise<readonly [current: string, target: string]> {
    const current = await this.#version();
    const text = await this.#host('GET', '/updates/status').catch(() => '{}');
    const { chosen_update: chosen } = JSON.parse(text) as Partial<WireStatus>;
    return [current, chosen?.version ?? current];
  }

  /** Asks again while the lock is held. @throws Error on any other answer but a good one */
  async #host(method: 'GET' | 'POST', path: string): Promise<string> {
    const { host, clock, signal } = this.#parts;
    for (let tries = 0; tries < LOCKED.tries; tries++) {
      const { status, body } = await host.request({ method, path, timeoutMs: 30_000, signal });
      if (status < 300) return body;
      if (status !== 423) throw new Error(`${path}: ${status}`);
      await clock.sleep(LOCKED.pauseMs, signal);
    }
    throw new Error(`${path}: the lock is held`);
  }

  /** Waits for as long as it takes. @throws Error on any answer but a good one */
  async #ask(method: 'POST' | 'PUT', path: string, body?: string): Promise<void> {
    const { exchange, nodeName, nodeUid, token, signal } = this.#parts;
    const caller = { [HEADERS.nodeName]: nodeName, [HEADERS.nodeUid]: nodeUid, [HEADERS.token]: token() };
    const headers = { ...caller, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const { status } = await exchange({ method, path, headers, body }, signal);
    if (status >= 300) throw new Error(`${path}: ${status}`);
  }
}
