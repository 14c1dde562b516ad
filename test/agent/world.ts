import { createAgent } from '../../runtime/agent/agent.ts';
import { clusterView } from '../../runtime/agent/cluster.ts';
import { Bottlerocket } from '../../runtime/agent/hosts/bottlerocket/bottlerocket.ts';
import type { HostTransport } from '../../runtime/agent/hosts/bottlerocket/calls.ts';
import type { HostUpdater } from '../../runtime/agent/hosts/port.ts';
import type { AgentApi } from '../../runtime/agent/apiserver/client.ts';
import { unlessAborted } from '../../runtime/lib/abort.ts';
import type { ShadowObject } from '../../runtime/api/resources.ts';
import type { Clock } from '../../runtime/lib/clock.ts';
import { HostUnreachableError } from '../../runtime/agent/hosts/errors.ts';
import type { K3osOptions } from '../../runtime/agent/hosts/k3os/k3os.ts';
import { Updog, type UpdogOptions } from '../../runtime/agent/hosts/updog/updog.ts';
import type { AgentTimes } from '../../runtime/agent/steps/context.ts';
import { type LogOptions, createLogger } from '../../runtime/lib/log.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { SimulatedHost, type HostOptions } from '../../lab/sim/hosts/host.ts';
import { MemoryDisk } from '../../lab/sim/hosts/k3os/disk.ts';
import { Releases } from '../../lab/sim/hosts/releases.ts';
import { InProcessHostPrograms } from '../../lab/sim/hosts/programs.ts';
import { InProcessHostTransport } from '../../lab/sim/hosts/transport.ts';
import { seeded } from '../random.ts';
import { type AnyDriverName, requestOf } from './drivers.ts';
import { k3osDriver, ordered } from './k3os-driver.ts';
import { Operator, type OperatorOptions } from './operator.ts';

export interface WorldOptions extends Omit<OperatorOptions, 'clock'> {
  readonly times?: Partial<AgentTimes>;
  readonly hostTimes?: HostOptions['times'];
  /** What drives the host. @default its API */
  readonly driver?: AnyDriverName;
  /** The agent's socket is a file mount: dead once the host's API server has restarted. */
  readonly pinned?: boolean;
  /** Of everything random. @default 7 */
  readonly seed?: number;
  /** For worlds side by side. @default a clock of its own */
  readonly clock?: VirtualClock;
}

interface Life {
  readonly run: AbortController;
  killed: boolean;
}

/**
 * One node: a simulated host from 1.38.0 that is offered 1.39.0, its agent, which lives and dies with the host, and an operator.
 */
export class World {
  readonly clock: VirtualClock;
  readonly releases = new Releases(['1.37.0', '1.38.0', '1.39.0']);
  readonly operator: Operator;
  readonly host: SimulatedHost;
  /** Why agents ended by themselves, in order. */
  readonly ends: string[] = [];
  readonly logged: string[] = [];
  /** Reboots on request of a node that was in service: must stay empty. */
  readonly undrainedReboots: number[] = [];
  readonly startedAt: number;
  /** By how much the host's wall clock is wrong. */
  wallErrorMs = 0;
  /** Called around everything that the agent waits for, time included: before it asks, and before it hears the answer. */
  onMoment: () => void = () => undefined;
  /** Of a k3OS host. */
  readonly disk = new MemoryDisk();
  readonly #options: WorldOptions;
  readonly #random: () => number;
  readonly #life = new AbortController();
  #agent: Life = { run: new AbortController(), killed: false };
  #failure: unknown;

  constructor(options: WorldOptions = {}) {
    const { releases } = this;
    const { clock = new VirtualClock() } = options;
    this.clock = clock;
    this.startedAt = clock.now();
    this.#options = options;
    this.#random = seeded(options.seed ?? 7);
    const isK3os = options.driver === 'k3os';
    this.operator = new Operator({ ...options, clock, ...(isK3os && { told: '1.39.0' }) });
    const has = async (_: string, tag: string): Promise<boolean> => releases.has(tag.slice(1));
    this.host = new SimulatedHost({
      clock,
      random: this.#random,
      releases,
      version: '1.38.0',
      ...(isK3os && { k3os: { disk: this.disk, has } }),
      ...(options.hostTimes && { times: options.hostTimes }),
    });
    this.host.observe({
      onDown: () => this.kill(),
      onUp: ({ id, version }) => {
        this.operator.booted(version, id);
        this.startAgent();
      },
    });
    this.host.start(this.#life.signal);
  }

  /** How often the host was asked to do it, e.g. `prepare-update`. */
  asked(action: string): number {
    return this.host.requests.get(requestOf(this.#options.driver ?? 'api', action)) ?? 0;
  }

  /** kill -9. */
  kill(): void {
    this.#agent.killed = true;
    this.stop();
  }

  /** SIGTERM. */
  stop(): void {
    this.#agent.run.abort(new Error('stopped'));
  }

  restart(): void {
    this.kill();
    this.startAgent();
  }

  startAgent(): void {
    const { operator } = this;
    const life: Life = { run: new AbortController(), killed: false };
    this.#agent = life;
    this.disk.isReadOnly = true;
    const clock = this.#clock(life);
    const random = this.#random;
    const logger = createLogger(this.#log());
    const { transport } = operator;
    const seen = clusterView({ transport, namespace: NAMESPACE, nodeName: 'n1', clock, random, logger });
    const agent = createAgent({
      nodeName: 'n1',
      readNode: (signal) => this.#asking(life, signal, () => operator.settled().then(() => seen.readNode(signal))),
      watchShadow: (signal) => this.#watch(life, signal),
      host: this.#driver(life, clock),
      api: this.#api(life),
      clock,
      random,
      logger,
      times: { lbWaitMs: 0, checkIntervalMs: 120_000, ...this.#options.times },
    });
    agent.run(life.run.signal).then(
      (reason) => this.ends.push(reason),
      (error: unknown) => {
        if (life.run.signal.aborted) this.ends.push('stopped');
        else this.#failure = error;
      },
    );
  }

  /** Moves time on until `fits`, looking every 250 ms. @throws Error with the log when it does not within `limitMs` */
  async until(fits: () => boolean, limitMs = 3_600_000): Promise<void> {
    await this.advance(0);
    for (let waited = 0; waited <= limitMs; waited += 250) {
      if (fits()) return;
      await this.advance(250);
    }
    throw new Error(`not within ${limitMs} ms:\n${this.operator.log.join('\n')}\n${this.logged.slice(-30).join('')}`);
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    if (this.#failure) throw new Error('the agent broke', { cause: this.#failure });
  }

  get idle(): boolean {
    const { value } = this.operator.shadow;
    return value?.spec.state === 'Idle' && value.status?.current_state === 'Idle';
  }

  /** At rest on 1.39.0, in service. */
  get updated(): boolean {
    return this.idle && this.operator.status.current_version === '1.39.0' && !this.operator.node.cordoned;
  }

  /** At rest on 1.38.0 after a failure, in service. */
  get restored(): boolean {
    const { operator } = this;
    if (!this.idle || operator.node.cordoned) return false;
    return operator.status.crash_count > 0 && operator.status.current_version === '1.38.0';
  }

  end(): void {
    this.kill();
    this.#life.abort();
  }

  /**
   * What an agent asks of others ends with the agent, as after a kill -9: nothing more is asked, and no answer is heard. What it asked
   * before goes on at the other side.
   */
  async #asking<T>(life: Life, signal: AbortSignal | undefined, ask: () => Promise<T>): Promise<T> {
    const dead = new Promise<never>(() => undefined);
    this.onMoment();
    if (life.killed) return dead;
    const answer = await (signal ? unlessAborted(ask(), signal) : ask());
    this.onMoment();
    return life.killed ? dead : answer;
  }

  #api(life: Life): AgentApi {
    const { operator } = this;
    return {
      createShadow: (caller, signal) => this.#asking(life, signal, () => operator.createShadow(caller)),
      putStatus: (caller, put, signal) => this.#asking(life, signal, () => operator.putStatus(caller, put)),
      act: (caller, action, signal) => this.#asking(life, signal, () => operator.act(caller, action, signal)),
    };
  }

  /** Waiting for time to pass is waiting. */
  #clock(life: Life): Clock {
    const { clock } = this;
    return {
      now: () => clock.now() + this.wallErrorMs,
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => this.#asking(life, undefined, () => clock.sleep(ms, signal)),
    };
  }

  async *#watch(life: Life, signal: AbortSignal): AsyncGenerator<ShadowObject | undefined> {
    for await (const shadow of this.operator.watch(signal)) {
      const seen = this.#options.driver === 'k3os' && shadow ? ordered(shadow) : shadow;
      yield await this.#asking(life, signal, async () => seen);
    }
  }

  #driver(life: Life, agentClock: Clock): HostUpdater {
    const { clock, host } = this;
    const real = new InProcessHostTransport({ host, clock, pinned: this.#options.pinned ?? false });
    const transport: HostTransport = {
      request: (request) =>
        this.#asking(life, request.signal, () => {
          if (request.path === '/actions/reboot') this.#rebooting();
          return real.request(request);
        }),
    };
    const bootId = async (): Promise<string> => {
      if (!host.boot) throw new HostUnreachableError('read boot_id', 'EIO');
      return host.boot.id;
    };
    const readBootId = (): Promise<string> => this.#asking(life, undefined, bootId);
    if (this.#options.driver === 'updog') return this.#updog(life, { clock: agentClock, readBootId });
    if (this.#options.driver === 'k3os') return this.#k3os(life, { clock: agentClock, readBootId });
    return new Bottlerocket({ transport, clock: agentClock, random: this.#random, readBootId });
  }

  #updog(life: Life, parts: Pick<UpdogOptions, 'clock' | 'readBootId'>): HostUpdater {
    const { clock, host } = this;
    const real = new InProcessHostPrograms({ host, clock, container: life.run.signal });
    return new Updog({
      ...parts,
      random: this.#random,
      programs: {
        run: (command, timeoutMs) =>
          this.#asking(life, undefined, () => {
            if (command[0].endsWith('/shutdown')) this.#rebooting();
            return real.run(command, timeoutMs);
          }),
      },
      readOsRelease: () => this.#asking(life, undefined, async () => host.osRelease),
    });
  }

  #k3os(life: Life, parts: Pick<K3osOptions, 'clock' | 'readBootId'>): HostUpdater {
    const { clock, disk, host } = this;
    return k3osDriver({
      ...parts,
      random: this.#random,
      disk,
      host,
      programs: new InProcessHostPrograms({ host, clock, container: life.run.signal }),
      asking: (ask) => this.#asking(life, undefined, ask),
      onReboot: () => this.#rebooting(),
    });
  }

  #rebooting(): void {
    const { clock, operator } = this;
    if (!(operator.node.cordoned && operator.node.drained)) this.undrainedReboots.push(clock.now());
  }

  #log(): LogOptions {
    return {
      format: 'compact',
      ansi: false,
      level: 'debug',
      clock: this.clock,
      write: (line) => this.logged.push(line),
    };
  }
}
