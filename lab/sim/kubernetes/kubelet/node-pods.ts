import { ConflictError, NotFoundError } from '../../../../runtime/kube/errors.ts';
import { collectionPath } from '../../../../runtime/kube/paths.ts';
import type { KubeRequest } from '../../../../runtime/kube/transport.ts';
import { Bell } from '../bell.ts';
import { Mirror } from '../mirror.ts';
import { deletePod, mergePatch, podPath } from '../pods.ts';
import { isPodTerminal, type Pod } from '../../../../runtime/kube/objects.ts';
import { type ApiAccess, insist } from './insist.ts';
import { NodeVolumes } from './node-volumes.ts';
import { PodRun, type PodTimes, type Program } from './pod-run.ts';

const PODS = collectionPath({ version: 'v1', plural: 'pods' });

/** Names, on a pod, how many seconds its containers take to end; its grace period is the limit. */
export const TERMINATION_ANNOTATION = 'sim.brupop/termination-seconds';

/** What a container runtime says of containers that were gone when it came up. */
const LOST_EXIT_CODE = 255;
const DEFAULT_GRACE_SECONDS = 30;
/** As often as it is looked whether its volumes are there, milliseconds. */
const MOUNT_MS = 50;

export interface NodePodsOptions extends ApiAccess {
  readonly nodeName: string;
  /** What runs in a pod: here a simulation starts and ends the processes that pods stand for. @default nothing */
  readonly program?: (pod: Pod) => Program | undefined;
  /** Milliseconds from a pod's binding until it runs. @default 200 */
  readonly startDelayMs?: number;
  /** Seconds that a pod's containers take to end, unless it is annotated. @default 1 */
  readonly terminationSeconds?: number;
  /** Which of the node's pods to run; others are somebody else's. @default all */
  readonly runs?: (pod: Pod) => boolean;
}

interface Running {
  readonly run: PodRun;
  /** Aborted when the pod is gone. */
  readonly gone: AbortController;
}

/** Runs the pods that are bound to one node, while that is up. */
export class NodePods {
  readonly #options: NodePodsOptions;
  readonly #volumes: NodeVolumes;
  readonly #pods: Mirror<Pod>;
  readonly #bell = new Bell();
  /** By UID. */
  readonly #running = new Map<string, Running>();
  readonly #failed = Promise.withResolvers<never>();
  #power: AbortController | undefined;

  constructor(options: NodePodsOptions) {
    this.#options = options;
    this.#volumes = new NodeVolumes(options);
    this.#pods = new Mirror({ ...options, path: PODS, query: { fieldSelector: `spec.nodeName=${options.nodeName}` } });
  }

  /** Follows the node's pods until the signal aborts, then stops them all. Rejects when the API refuses what a kubelet may do. */
  async run(signal: AbortSignal): Promise<void> {
    const ring = (): void => this.#bell.ring();
    signal.addEventListener('abort', ring, { once: true });
    await Promise.race([Promise.all([this.#pods.run(ring, signal), this.#rounds(signal)]), this.#failed.promise]);
  }

  /** The node is up: its pods start (again). */
  powerOn(): void {
    this.#power = new AbortController();
    this.#volumes.forget(this.#power.signal).catch(this.#failed.reject);
    this.#bell.ring();
  }

  /** The node goes down, and all containers with it. Resolves when they have ended. */
  async powerOff(): Promise<void> {
    this.#power?.abort();
    this.#power = undefined;
    const all = [...this.#running.values()];
    this.#running.clear();
    await Promise.all(all.map(({ run }) => run.stop('killed')));
  }

  async #rounds(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#bell.wait();
      if (!signal.aborted && this.#power && this.#pods.synced) this.#sync(this.#power.signal);
    }
    await this.powerOff();
  }

  #sync(power: AbortSignal): void {
    const { runs = () => true } = this.#options;
    const pods = this.#pods.items().filter((pod) => !isPodTerminal(pod) && runs(pod));
    const present = new Set(pods.map(({ metadata }) => metadata.uid));
    for (const [uid, running] of this.#running) if (!present.has(uid)) this.#end(uid, running, power);
    for (const pod of pods) {
      const running = this.#running.get(pod.metadata.uid);
      if (running) running.run.update(pod);
      else this.#running.set(pod.metadata.uid, this.#start(pod, power));
    }
  }

  #start(pod: Pod, power: AbortSignal): Running {
    const { clock, program: programOf } = this.#options;
    const gone = new AbortController();
    const down = AbortSignal.any([power, gone.signal]);
    const program = programOf?.(pod);
    // What is under way when the node goes down, or the pod is gone, is no error.
    const unlessDown = (work: Promise<unknown>): void =>
      void work.catch((error: unknown) => down.aborted || this.#failed.reject(error));
    let isMounted = false;
    unlessDown(this.#volumes.use(pod, power).then(() => (isMounted = true)));
    let told: Promise<unknown> = Promise.resolve();
    const tell = (of: Pod, status: object): Promise<unknown> =>
      this.#send({ ...mergePatch(`${podPath(of)}/status`, { status }), signal: down });
    const run = new PodRun(pod, {
      clock,
      program,
      times: timesOf(this.#options, program !== undefined),
      mounts: { everyMs: MOUNT_MS, areThere: () => isMounted },
      after: (ms, act) => unlessDown(clock.sleep(ms, down).then(act)),
      do: (act) => unlessDown(Promise.resolve(act())),
      whileWorking: (act) => act(),
      lost: () => ({ at: clock.now(), exitCode: LOST_EXIT_CODE }),
      // One after the other: the last word is what is true.
      report: (of, status) => (told = told.then(() => tell(of, status))),
      remove: (of) => this.#send({ ...deletePod(of, 0), signal: down }),
    });
    return { run, gone };
  }

  /** The pod is gone; by force, where its containers still run. */
  #end(uid: string, { run, gone }: Running, power: AbortSignal): void {
    this.#running.delete(uid);
    gone.abort();
    run
      .stop('killed')
      .then(() => this.#volumes.release(uid, power))
      .catch(this.#failed.reject);
  }

  /** A pod that is gone or was replaced is no error. */
  async #send(request: KubeRequest): Promise<void> {
    try {
      await insist(this.#options, request);
    } catch (error) {
      if (!(error instanceof NotFoundError || error instanceof ConflictError)) throw error;
    }
  }
}

/** @param hasProgram whether a program runs in the pod: that ends when it ends, or once its grace is over */
function timesOf({ startDelayMs = 200, terminationSeconds = 1 }: NodePodsOptions, hasProgram: boolean): PodTimes {
  return {
    startMs: () => startDelayMs,
    endMs: ({ metadata, spec }, isRunning) => {
      const grace = metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
      const own = hasProgram ? grace : Number(metadata.annotations?.[TERMINATION_ANNOTATION] ?? terminationSeconds);
      return isRunning ? Math.min(grace, own) * 1000 : 0;
    },
    restartMs: 0,
    retryMs: () => startDelayMs,
  };
}
