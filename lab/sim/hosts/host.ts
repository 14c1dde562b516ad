import type { Clock } from '../../../runtime/lib/clock.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { DROPPED, type HostAnswer, type HostCall, NEVER } from './answer.ts';
import { background } from './background.ts';
import { type FaultName, Faults, type FaultTerms } from './faults.ts';
import { K3osInstallation, type K3osParts } from './k3os/k3os.ts';
import { type Boot, Machine } from './machine.ts';
import type { Releases } from './releases.ts';
import { HostRepository } from './repository.ts';
import { route } from './routes.ts';
import { HostSettings, type UpdateSettings } from './settings.ts';
import { PartitionSets } from './partition-sets.ts';
import { HostTools, type ToolParts } from './tools.ts';
import { DEFAULT_TIMES, type HostInterval, type HostTimes } from './times.ts';
import { Updater } from './updater.ts';
import { type ToolEnd, Updog } from './updog.ts';

/** What hosts are, unless something else is asked for. */
export const PLATFORM = { variant: 'aws-k8s-1.33', arch: 'x86_64' } as const;

export interface HostOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly releases: Releases;
  /** What the host runs at first. */
  readonly version: string;
  /** @default that of `PLATFORM` */
  readonly variant?: string;
  /** @default that of `PLATFORM` */
  readonly arch?: string;
  /** @default DEFAULT_TIMES */
  readonly times?: Partial<HostTimes>;
  readonly settings?: Partial<UpdateSettings>;
  /** Whether an image of this version boots at all; where it does not, the host falls back. @default each does */
  readonly boots?: (version: string) => boolean;
  /** Where it runs k3OS. @default Bottlerocket */
  readonly k3os?: Pick<K3osParts, 'disk' | 'has'> | undefined;
}

/** Called in the middle of what the host does: must not throw. */
export interface HostObserver {
  /** The host is down: everything on it is gone. */
  onDown?(): void;
  /** The host has booted. */
  onUp?(boot: Boot): void;
  /** A call has come. */
  onCall?(call: HostCall): void;
  /** One of its own programs is run, by its path and arguments. */
  onRun?(command: readonly string[]): void;
  /** A call has been answered. */
  onAnswer?(call: HostCall, answer: HostAnswer): void;
  /** The API's socket appeared or vanished. */
  onSocket?(listening: boolean): void;
}

/** One start of the host's API server; a client that holds an older one's socket file reaches nobody. */
interface ApiServer {
  readonly updater: Updater;
  readonly boot: Boot;
  readonly end: AbortController;
  /** Aborts when the API server ends, or the host below it. */
  readonly signal: AbortSignal;
}

/**
 * A Bottlerocket host as its update API shows it: asynchronous actions behind a lock, two partition sets, a status that a reboot
 * forgets. Does no I/O: `handle` answers one call, a socket is put in front of it elsewhere.
 */
export class SimulatedHost {
  readonly variant: string;
  readonly arch: string;
  readonly settings: HostSettings;
  /** The host's own work so far, in order of its end. */
  readonly intervals: HostInterval[] = [];
  /** How often each call was made, e.g. by `GET /os`. */
  readonly requests = new Map<string, number>();
  /** Counts the starts of the API server; each makes a new socket file. */
  socketGeneration = 0;
  readonly #options: HostOptions;
  readonly #sets: PartitionSets;
  readonly #faults: Faults;
  readonly #machine: Machine;
  readonly #toolParts: ToolParts;
  readonly #tools: HostTools;
  readonly #k3os: K3osInstallation | undefined;
  readonly #observers = new Set<HostObserver>();
  #server: ApiServer | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: HostOptions) {
    const { clock, random, version, variant = PLATFORM.variant, arch = PLATFORM.arch } = options;
    this.variant = variant;
    this.arch = arch;
    this.#options = options;
    this.#faults = new Faults(clock);
    this.#sets = new PartitionSets(version);
    const { intervals } = this;
    const times = { ...DEFAULT_TIMES, ...options.times };
    const own = { clock, random, faults: this.#faults, sets: this.#sets, times, intervals, variant, arch };
    this.settings = new HostSettings({ seed: Math.floor(random() * 2048), ...options.settings }, own);
    this.#machine = new Machine({
      ...own,
      boots: options.boots ?? (() => true),
      onUp: (boot) => this.#cameUp(boot),
      onDown: () => this.#wentDown(),
    });
    const parts = { ...own, machine: this.#machine };
    const { releases } = options;
    const repository = new HostRepository({ ...parts, releases, settings: this.settings });
    const updog = new Updog({ ...parts, releases, repository, crash: () => this.crash() });
    this.#toolParts = { ...parts, repository, updog };
    this.#tools = new HostTools(this.#toolParts);
    this.#k3os = options.k3os && new K3osInstallation({ ...parts, ...options.k3os });
  }

  /** Boots at once, and lives until the signal aborts. */
  start(signal: AbortSignal): void {
    this.#machine.start(signal);
  }

  /** The present boot; undefined while the host is down. */
  get boot(): Boot | undefined {
    return this.#machine.boot;
  }

  /** The version that runs, or ran last. */
  get version(): string {
    return this.#sets.running;
  }

  /** Whether the bootloader tries next what was written and has not booted yet. */
  get isActivated(): boolean {
    return this.#sets.other === 'activated';
  }

  /** The text of the file in its root. */
  get osRelease(): string {
    const { version, variant } = this;
    const name = `Bottlerocket OS ${version} (${variant})`;
    return `NAME=Bottlerocket\nID=bottlerocket\nPRETTY_NAME="${name}"\nVARIANT_ID=${variant}\nVERSION_ID=${version}\nBUILD_ID=4f1c02f8\n`;
  }

  get listening(): boolean {
    return this.#server !== undefined;
  }

  /** Connections to the socket fail for want of permission. */
  get denied(): boolean {
    return this.#faults.leftMs('denied') > 0;
  }

  /** Returns the function that ends it. */
  observe(observer: HostObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  inject(fault: FaultName, terms?: FaultTerms): void {
    this.#faults.inject(fault, terms);
  }

  clear(fault: FaultName): void {
    this.#faults.clear(fault);
  }

  /** A reboot that the agent did not ask for: down at once. */
  crash(): void {
    this.#machine.crash();
  }

  /** What a person does on the host: the system that ran before is the one that boots next. Returns why that cannot be. */
  rollBack(): string | undefined {
    return this.#sets.rollBack();
  }

  /** Off at once, and stays so until it is switched on. */
  powerOff(): void {
    this.#machine.powerOff();
  }

  /** Boots a host that is off, or that has not come back from a reboot. */
  powerOn(): void {
    this.#machine.powerOn();
  }

  /** The API server goes away and comes back after `awayMs` with a new socket file. What it has started ends with it. */
  restartApi(awayMs: number): void {
    const server = this.#server;
    if (!server) return;
    this.#stopServing();
    const { clock } = this.#options;
    const { signal } = server.boot;
    background(
      clock.sleep(awayMs, signal).then(() => this.#serve(server.boot, server.updater)),
      signal,
    );
  }

  /** Answers one call. There is one worker: calls are answered in the order in which they come. */
  handle(call: HostCall): Promise<HostAnswer> {
    const server = this.#server;
    if (!server || this.denied) return Promise.resolve(DROPPED);
    const name = `${call.method} ${call.path.split('?', 1)[0]}`;
    this.requests.set(name, (this.requests.get(name) ?? 0) + 1);
    for (const observer of this.#observers) observer.onCall?.(call);
    const answer = this.#queue.then(() => this.#answerNext(call, server));
    this.#queue = answer;
    return answer;
  }

  /** Runs one of the host's own programs, by its path and arguments, until it ends or the process is killed. */
  async run(command: readonly string[], killed: AbortSignal): Promise<ToolEnd> {
    const { boot } = this;
    if (!boot) return { exit: undefined, stdout: '', stderr: '' };
    const name = `${command[0]?.split('/').at(-1)} ${command.includes('--rootfs=false') ? 'remount' : command[1]}`;
    this.requests.set(name, (this.requests.get(name) ?? 0) + 1);
    for (const observer of this.#observers) observer.onRun?.(command);
    const over = AbortSignal.any([killed, boot.signal]);
    if (!this.#k3os) return this.#tools.run(command, over);
    if (command[0] === '/sbin/init') this.reboot();
    if (command[0] === '/sbin/init') return { exit: 0, stdout: '', stderr: '' };
    return this.#k3os.run(command.slice(1), over);
  }

  /** What its init does when it is told to end: the host shuts down in order, and boots again. */
  reboot(): void {
    if (!this.#faults.strikes('reboot-ignored')) this.#machine.reboot();
  }

  /** Whether its init cannot be told anything at this moment; uses up one such fault. */
  get isInitAway(): boolean {
    return this.#faults.strikes('reboot-500');
  }

  async #answerNext(call: HostCall, server: ApiServer): Promise<HostAnswer> {
    const answer = await this.#answer(call, server);
    for (const observer of this.#observers) observer.onAnswer?.(call, answer);
    return answer;
  }

  async #answer(call: HostCall, { updater, signal }: ApiServer): Promise<HostAnswer> {
    const { clock } = this.#options;
    try {
      const silentMs = this.#faults.leftMs('silent');
      if (silentMs > 0) await clock.sleep(silentMs, signal);
      if (silentMs > 0) return DROPPED;
      if (this.#faults.leftMs('slow') > 0) await clock.sleep(2000, signal);
    } catch {
      return DROPPED;
    }
    if (signal.aborted) return DROPPED;
    const { version, variant, arch, settings } = this;
    const served = { updater, signal, machine: this.#machine, settings, faults: this.#faults, version, variant, arch };
    const answer = this.#disturbed(route(served, call));
    return call.method === 'POST' && this.#faults.strikes('half-open') ? NEVER : answer;
  }

  #disturbed(answer: HostAnswer): HostAnswer {
    if (answer.kind !== 'answer') return answer;
    if (this.#faults.leftMs('truncated') > 0) return { ...answer, kind: 'cut' };
    if (this.#faults.leftMs('garbage') === 0 || answer.body === '') return answer;
    return { ...answer, status: 200, body: '{"update_state":7,"version_id":null}' };
  }

  #cameUp(boot: Boot): void {
    this.#k3os?.cameUp();
    this.settings.boot();
    const updater = new Updater({ ...this.#toolParts, restartApi: (awayMs) => this.restartApi(awayMs) });
    this.#serve(boot, updater);
    for (const observer of this.#observers) observer.onUp?.(boot);
  }

  #wentDown(): void {
    this.#stopServing();
    this.#k3os?.wentDown();
    for (const observer of this.#observers) observer.onDown?.();
  }

  #serve(boot: Boot, updater: Updater): void {
    const end = new AbortController();
    this.#server = { boot, updater, end, signal: AbortSignal.any([end.signal, boot.signal]) };
    this.socketGeneration += 1;
    for (const observer of this.#observers) observer.onSocket?.(true);
  }

  #stopServing(): void {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    server.end.abort();
    for (const observer of this.#observers) observer.onSocket?.(false);
  }
}
