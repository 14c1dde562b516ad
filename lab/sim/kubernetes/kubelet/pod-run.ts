import { ConflictError, NotFoundError } from '../../../../runtime/kube/errors.ts';
import type { KubeRequest } from '../../../../runtime/kube/transport.ts';
import { deletePod, mergePatch, podPath } from '../pods.ts';
import type { Pod } from '../../../../runtime/kube/objects.ts';
import type { KubeletHooks } from './hooks.ts';
import { type ApiAccess, insist } from './insist.ts';
import { type PodState, podStatus } from './pod-status.ts';

/** Names, on a pod, how many seconds its containers take to end; its grace period is the limit. */
export const TERMINATION_ANNOTATION = 'sim.brupop/termination-seconds';

/** What a container runtime says of containers that were gone when it came up. */
const LOST_EXIT_CODE = 255;
const DEFAULT_GRACE_SECONDS = 30;
const RESTART_MS = { first: 10_000, longest: 300_000 };

export interface PodRunOptions extends ApiAccess {
  readonly hooks: KubeletHooks;
  /** Milliseconds from binding to running. */
  readonly startDelayMs: number;
  /** Seconds that containers take to end when no annotation says otherwise. */
  readonly terminationSeconds: number;
}

/** One pod on one node, from the start of its containers during this boot until it is gone or the node goes down. */
export class PodRun {
  readonly #options: PodRunOptions;
  readonly #ending = new AbortController();
  #pod: Pod;
  #up = false;

  constructor(pod: Pod, options: PodRunOptions) {
    this.#pod = pod;
    this.#options = options;
  }

  /** The pod as the API has it now; once it bears a deletionTimestamp its containers are ended. */
  update(pod: Pod): void {
    this.#pod = pod;
    if (pod.metadata.deletionTimestamp !== undefined) this.#ending.abort();
  }

  /** Runs the pod; when `down` aborts (node off, or pod removed by force) its containers stop at once. */
  async run(down: AbortSignal): Promise<void> {
    const stop = AbortSignal.any([down, this.#ending.signal]);
    await this.#restartUntil(stop);
    if (this.#up) await this.#options.clock.sleep(this.#terminationMs(), down).catch(() => undefined);
    await this.#stop();
    if (!down.aborted) await this.#send({ ...deletePod(this.#pod, 0), signal: down });
  }

  async #restartUntil(stop: AbortSignal): Promise<void> {
    const { clock, startDelayMs } = this.#options;
    let past = historyOf(this.#pod, clock.now());
    let pause = startDelayMs;
    for (let crashes = 0; !stop.aborted; crashes++) {
      await clock.sleep(pause, stop).catch(() => undefined);
      if (stop.aborted) return;
      const exitCode = await this.#runOnce(past, stop);
      if (stop.aborted) return;
      past = { restarts: past.restarts + 1, last: { at: clock.now(), exitCode } };
      await this.#report({ ...past, container: { kind: 'waiting', reason: 'CrashLoopBackOff' } }, stop);
      pause = crashes === 0 ? 0 : Math.min(RESTART_MS.first * 2 ** (crashes - 1), RESTART_MS.longest);
    }
  }

  /** From the start of the containers until they end by themselves (with this exit code), or are to be stopped. */
  async #runOnce(past: Past, stop: AbortSignal): Promise<number> {
    const { clock, hooks } = this.#options;
    const over = Promise.withResolvers<number>();
    const exited = (code = 0): void => {
      this.#up = false;
      over.resolve(code);
    };
    stop.addEventListener('abort', () => over.resolve(0), { once: true });
    this.#up = true;
    const since = clock.now();
    let told = Promise.resolve();
    // One after the other: the last word is what is true.
    const ready = (is: boolean): void => {
      told = told
        .then(() => this.#tell({ ...past, container: { kind: 'running', since, ready: is } }, stop))
        .catch(over.reject);
    };
    try {
      // Containers that are to be stopped are not waited for until they are ready: a host that goes down would wait for ever.
      await Promise.race([hooks.onPodStart?.(this.#pod, exited, ready), over.promise]);
    } catch {
      exited(1);
    }
    ready(true);
    await told;
    return over.promise;
  }

  async #tell(state: PodState, stop: AbortSignal): Promise<void> {
    if (this.#up && !stop.aborted) await this.#report(state, stop);
  }

  async #stop(): Promise<void> {
    if (this.#up) await this.#options.hooks.onPodStop?.(this.#pod);
    this.#up = false;
  }

  #terminationMs(): number {
    const { metadata, spec } = this.#pod;
    const grace = metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
    const own = Number(metadata.annotations?.[TERMINATION_ANNOTATION] ?? this.#options.terminationSeconds);
    return Math.min(grace, own) * 1000;
  }

  async #report(state: PodState, signal: AbortSignal): Promise<void> {
    const status = podStatus(this.#pod, state, this.#options.clock.now());
    await this.#send({ ...mergePatch(`${podPath(this.#pod)}/status`, { status }), signal });
  }

  /** A pod that is gone or was replaced, and a node that goes down meanwhile, are no errors. */
  async #send(request: KubeRequest): Promise<void> {
    try {
      await insist(this.#options, request);
    } catch (error) {
      const gone = error instanceof NotFoundError || error instanceof ConflictError;
      if (!gone && !request.signal?.aborted) throw error;
    }
  }
}

type Past = Omit<PodState, 'container'>;

/** What the API knows of a pod's earlier containers; those of the node's last boot ended, at the latest, now. */
function historyOf({ status }: Pod, now: number): Past {
  const counts = status?.containerStatuses?.map(({ restartCount }) => restartCount + 1) ?? [];
  return counts.length === 0
    ? { restarts: 0 }
    : { restarts: Math.max(...counts), last: { at: now, exitCode: LOST_EXIT_CODE } };
}
