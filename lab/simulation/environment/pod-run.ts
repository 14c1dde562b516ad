import { podPath } from '../../sim/kubernetes/pods.ts';
import type { Pod } from '../../../runtime/kube/objects.ts';
import { between } from './chance.ts';
import type { Parts } from './lookout.ts';
import { type Container, type Ended, podStatus } from '../../sim/kubernetes/kubelet/pod-status.ts';

/** On a pod: how long its containers take to be ready and to end, milliseconds. Its grace period is the limit of the second. */
export const READY_ANNOTATION = 'simulation/ready-ms';
export const ENDS_ANNOTATION = 'simulation/ends-ms';
/** On a pod: as `ENDS_ANNOTATION`, and whatever its grace period says, as where a mount hangs. */
export const STUCK_ANNOTATION = 'simulation/stuck-ms';

/** A container runtime found it gone. */
const LOST_CODES = [137, 255];
/** As often as it is seen whether a volume has come, milliseconds. */
const MOUNT_MS = 5000;
const BACKOFF_MS = { first: 10_000, longest: 300_000, forgottenAfter: 600_000 };

/** What a pod's container runs; nothing where it is only there. */
export interface Program {
  /** @param ended it has ended, whoever ended it @returns why it cannot be started, as a kubelet words it; undefined where it was */
  start(pod: Pod, ended: (exitCode: number) => void): Promise<string | undefined>;
  /** `terminated` is told to end, and may take its time. */
  stop(how: Stop): void;
}

/** `vanished` goes with its machine. */
export type Stop = 'killed' | 'vanished' | 'terminated';

/** Its clock is that of the machine. */
interface PodRunParts extends Parts {
  readonly program?: Program | undefined;
  /** Whether its volumes are there; its container starts only then. */
  readonly isMounted: () => boolean;
  /** What the kubelet does, it does while it works; the rest waits until it does again. */
  readonly whileWorking: (act: () => unknown) => unknown;
}

/** One pod on one boot of its node: its container starts, may crash and start again, and ends when the pod is deleted. */
export class PodRun {
  readonly #parts: PodRunParts;
  #pod: Pod;
  #restarts: number;
  #last: Ended | undefined;
  #since: number | undefined;
  #backoffMs = 0;
  #ending = false;
  #over = false;

  constructor(pod: Pod, parts: PodRunParts) {
    const { random, clock } = parts;
    const before = pod.status?.containerStatuses?.[0];
    this.#pod = pod;
    this.#parts = parts;
    this.#restarts = before ? (before.restartCount ?? 0) + 1 : 0;
    // After a boot a kubelet knows of some of the containers when they ended, and of others nothing.
    const seen = random() < 0.5 ? { at: clock.now() } : {};
    if (before) this.#last = { exitCode: LOST_CODES[between(random, 0, 1)] ?? 255, ...seen };
    this.update(pod);
    if (!this.#ending) this.#later(this.#number(READY_ANNOTATION, between(random, 1000, 6000)), () => this.#start());
  }

  get running(): boolean {
    return this.#since !== undefined;
  }

  /** The pod as the API has it now. */
  update(pod: Pod): void {
    this.#pod = pod;
    if (pod.metadata.deletionTimestamp === undefined || this.#ending) return;
    this.#ending = true;
    const stuckMs = Number(pod.metadata.annotations?.[STUCK_ANNOTATION] ?? 0);
    if (this.running) this.#parts.program?.stop('terminated');
    this.#later(Math.max(stuckMs, this.running ? this.#endsMs() : 0), () => this.#remove());
  }

  /** Says again what it last said: somebody else may have said otherwise since. */
  repeat(): Promise<unknown> | undefined {
    return this.#since === undefined || this.#ending ? undefined : this.#say({ kind: 'running', since: this.#since });
  }

  /** The container is over. Where nobody had told it to end it is started again, later each time. */
  async #ended(exitCode: number): Promise<void> {
    if (this.#since === undefined || this.#over) return;
    const { clock } = this.#parts;
    const ranMs = clock.now() - this.#since;
    this.#since = undefined;
    this.#restarts += 1;
    this.#last = { exitCode, at: clock.now() };
    if (this.#ending) return this.#later(0, () => this.#remove());
    const pauseMs = ranMs > BACKOFF_MS.forgottenAfter ? 0 : this.#backoffMs;
    this.#backoffMs = Math.min(BACKOFF_MS.longest, pauseMs === 0 ? BACKOFF_MS.first : 2 * pauseMs);
    this.#later(pauseMs + 1000, () => this.#start());
    await this.#parts.whileWorking(() => this.#say({ kind: 'waiting', reason: 'CrashLoopBackOff' }));
  }

  /** It cannot be started again from now on; what is to be done about that is another's business. */
  async bar(reason: string): Promise<void> {
    const { program, clock, whileWorking } = this.#parts;
    if (this.running) {
      this.#since = undefined;
      this.#restarts += 1;
      this.#last = { exitCode: 137, at: clock.now() };
      program?.stop('killed');
    }
    await whileWorking(() => this.#say({ kind: 'waiting', reason }));
  }

  /** It is tried again, where it could not be started. */
  retry(): void {
    if (!this.running && !this.#ending) this.#later(between(this.#parts.random, 1000, 60_000), () => this.#start());
  }

  /** The node is down, or the pod is gone by force: its container is gone at once, and nobody says so. */
  stop(how: Exclude<Stop, 'terminated'>): void {
    this.#over = true;
    this.#kill(how);
  }

  #kill(how: Exclude<Stop, 'terminated'> = 'killed'): void {
    const was = this.running;
    this.#since = undefined;
    if (was) this.#parts.program?.stop(how);
  }

  async #start(): Promise<void> {
    if (this.#ending || this.running) return;
    const { program, clock, timers, isMounted } = this.#parts;
    if (!isMounted()) return this.#later(MOUNT_MS, () => this.#start());
    this.#since = clock.now();
    const refusal = await program?.start(this.#pod, (exitCode) => timers.do(() => this.#ended(exitCode)));
    // While it was being started it may have been stopped.
    if (this.#over || this.#since === undefined) return program?.stop('killed');
    if (refusal === undefined) await this.#say({ kind: 'running', since: this.#since });
    else {
      this.#since = undefined;
      await this.#say({ kind: 'waiting', reason: refusal });
    }
  }

  async #remove(): Promise<void> {
    this.#kill();
    const { uid } = this.#pod.metadata;
    await this.#parts.hand.delete(podPath(this.#pod), { gracePeriodSeconds: 0, preconditions: { uid } });
  }

  #say(container: Container): Promise<unknown> {
    const { hand, clock } = this.#parts;
    const state = { container, restarts: this.#restarts, last: this.#last };
    const status = podStatus(this.#pod, state, clock.now());
    return hand.patch(`${podPath(this.#pod)}/status`, { status });
  }

  #endsMs(): number {
    const { random, program } = this.#parts;
    const { deletionGracePeriodSeconds: grace = 30 } = this.#pod.metadata;
    if (program) return grace * 1000;
    return Math.min(grace * 1000, this.#number(ENDS_ANNOTATION, between(random, 500, 4000)));
  }

  #number(annotation: string, otherwise: number): number {
    const text = this.#pod.metadata.annotations?.[annotation];
    return text === undefined ? otherwise : Number(text);
  }

  #later(ms: number, act: () => unknown): void {
    const { timers, whileWorking } = this.#parts;
    timers.after(ms, () => whileWorking(() => (this.#over ? undefined : act())));
  }
}
