import type { Pod } from '../../../../runtime/kube/objects.ts';
import type { Clock } from '../../../../runtime/lib/clock.ts';
import { type Container, type Ended, podStatus } from './pod-status.ts';

const BACKOFF_MS = { first: 10_000, longest: 300_000, forgottenAfter: 600_000 };

/** What a pod's containers run; nothing where they are only there. */
export interface Program {
  /**
   * They run once it resolves. A start that fails is told by `ended`.
   * @param ended they have ended, whoever ended them
   * @param ready from then on, whether they are
   * @returns why they cannot be started, as a kubelet words it; undefined where they were
   */
  start(pod: Pod, ended: (exitCode: number) => void, ready: (is: boolean) => void): Promise<string | undefined>;
  /** `terminated` is told to end, and may take its time. What is returned resolves when they have ended, where that takes any. */
  stop(how: Stop, pod: Pod): Promise<void> | void;
}

/** `vanished` goes with its machine. */
export type Stop = 'killed' | 'vanished' | 'terminated';

/** How long things take on this node, milliseconds. */
export interface PodTimes {
  readonly startMs: (pod: Pod) => number;
  /** From its deletion on. */
  readonly endMs: (pod: Pod, isRunning: boolean) => number;
  /** Before containers that have ended are started again, besides the pause that grows. */
  readonly restartMs: number;
  /** Before it is tried again what could not be started. */
  readonly retryMs: () => number;
}

export interface PodRunParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly program?: Program | undefined;
  readonly times: PodTimes;
  /** Acts later, while the node is up and its kubelet works. */
  readonly after: (ms: number, act: () => unknown) => void;
  /** Acts now, or once the kubelet works again. */
  readonly whileWorking: (act: () => unknown) => unknown;
  /** Acts now, whether it works or not. */
  readonly do: (act: () => unknown) => void;
  /** How often it is looked again whether its volumes are there, milliseconds, and whether they are; its containers start only then. */
  readonly mounts?: { readonly everyMs: number; readonly areThere: () => boolean };
  /** How containers ended that were gone when the kubelet came up. */
  readonly lost: () => Ended;
  readonly report: (pod: Pod, status: object) => Promise<unknown>;
  readonly remove: (pod: Pod) => Promise<unknown>;
}

/** One pod on one boot of its node: its containers start, may crash and start again, and end when the pod is deleted. */
export class PodRun {
  readonly #parts: PodRunParts;
  #pod: Pod;
  #restarts: number;
  #last: Ended | undefined;
  #since: number | undefined;
  #backoffMs = 0;
  #ending = false;
  #over = false;
  /** Resolves when what was told to end has ended, where that takes time. */
  #stopped: Promise<void> | void = undefined;

  constructor(pod: Pod, parts: PodRunParts) {
    const before = pod.status?.containerStatuses?.[0];
    this.#pod = pod;
    this.#parts = parts;
    this.#restarts = before ? (before.restartCount ?? 0) + 1 : 0;
    if (before) this.#last = parts.lost();
    this.update(pod);
    if (!this.#ending) this.#later(parts.times.startMs(pod), () => this.#start());
  }

  get running(): boolean {
    return this.#since !== undefined;
  }

  /** The pod as the API has it now. */
  update(pod: Pod): void {
    this.#pod = pod;
    if (pod.metadata.deletionTimestamp === undefined || this.#ending) return;
    this.#ending = true;
    if (this.running) this.#tell('terminated');
    this.#later(this.#parts.times.endMs(pod, this.running), () => this.#remove());
  }

  /** Says again what it last said: somebody else may have said otherwise since. */
  repeat(): Promise<unknown> | undefined {
    return this.#since === undefined || this.#ending ? undefined : this.#say({ kind: 'running', since: this.#since });
  }

  /** The containers are over. Where nobody had told them to end they are started again, later each time. */
  async #ended(exitCode: number): Promise<void> {
    if (this.#since === undefined || this.#over) return;
    const { clock, times, whileWorking } = this.#parts;
    const ranMs = clock.now() - this.#since;
    this.#gone(exitCode);
    if (this.#ending) return this.#later(0, () => this.#remove());
    const pauseMs = ranMs > BACKOFF_MS.forgottenAfter ? 0 : this.#backoffMs;
    this.#backoffMs = Math.min(BACKOFF_MS.longest, pauseMs === 0 ? BACKOFF_MS.first : 2 * pauseMs);
    this.#later(pauseMs + times.restartMs, () => this.#start());
    await whileWorking(() => this.#say({ kind: 'waiting', reason: 'CrashLoopBackOff' }));
  }

  /** It cannot be started again from now on; what is to be done about that is another's business. */
  async bar(reason: string): Promise<void> {
    if (this.running) {
      this.#gone(137);
      this.#tell('killed');
    }
    await this.#parts.whileWorking(() => this.#say({ kind: 'waiting', reason }));
  }

  /** It is tried again, where it could not be started. */
  retry(): void {
    if (!this.running && !this.#ending) this.#later(this.#parts.times.retryMs(), () => this.#start());
  }

  /** The node is down, or the pod is gone by force: its containers are gone at once, and nobody says so. Resolves when they are, where that takes time. */
  async stop(how: Exclude<Stop, 'terminated'>): Promise<void> {
    this.#over = true;
    this.#kill(how);
    await this.#stopped;
  }

  #gone(exitCode: number): void {
    this.#since = undefined;
    this.#restarts += 1;
    this.#last = { exitCode, at: this.#parts.clock.now() };
  }

  #kill(how: Exclude<Stop, 'terminated'>): void {
    const was = this.running;
    this.#since = undefined;
    if (was) this.#tell(how);
  }

  #tell(how: Stop): void {
    this.#stopped = this.#parts.program?.stop(how, this.#pod) ?? this.#stopped;
  }

  async #start(): Promise<void> {
    if (this.#ending || this.running) return;
    const { program, clock, mounts } = this.#parts;
    if (mounts && !mounts.areThere()) return this.#later(mounts.everyMs, () => this.#start());
    this.#since = clock.now();
    const ended = (exitCode: number): void => this.#parts.do(() => this.#ended(exitCode));
    const refusal = await program?.start(this.#pod, ended, (is) => this.#parts.do(() => this.#sayReady(is)));
    // While they were being started they may have been stopped.
    if (this.#over || this.#since === undefined) return this.#tell('killed');
    if (refusal === undefined) await this.#say({ kind: 'running', since: this.#since });
    else {
      this.#since = undefined;
      await this.#say({ kind: 'waiting', reason: refusal });
    }
  }

  #sayReady(ready: boolean): Promise<unknown> | undefined {
    return this.#since === undefined ? undefined : this.#say({ kind: 'running', since: this.#since, ready });
  }

  async #remove(): Promise<void> {
    this.#kill('killed');
    if (this.#stopped) await this.#stopped;
    await this.#parts.remove(this.#pod);
  }

  #say(container: Container): Promise<unknown> {
    const state = { container, restarts: this.#restarts, last: this.#last };
    return this.#parts.report(this.#pod, podStatus(this.#pod, state, this.#parts.clock.now()));
  }

  #later(ms: number, act: () => unknown): void {
    this.#parts.after(ms, () => (this.#over ? undefined : act()));
  }
}
