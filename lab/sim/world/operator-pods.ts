import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import { COMPONENT_LABEL } from '../../../runtime/api/shadow/names.ts';
import type { Program, Stop } from '../kubernetes/kubelet/pod-run.ts';
import { mountPodFiles, type Mounts, type PodFiles } from './pod-files.ts';
import { containerOf, podEnv } from './pod-template.ts';
import type { PodTokenOptions } from './pod-token.ts';
import { PodPorts } from './ports.ts';
import { askOverHttp, followProbe, type Probing, untilReady } from './probes.ts';
import { type RunningProgram, type StartProgram, stopProgram } from './programs.ts';
import type { Endpoint, ServiceEndpoints } from './service-endpoints.ts';

export interface OperatorPodsOptions {
  /** The Kubernetes API as the kubelet of the pod's node reaches it. */
  readonly transport: (pod: Pod) => KubeTransport;
  /** The pod as a real API server would have admitted it. @default as it is */
  readonly admitted?: (pod: Pod) => Promise<Pod>;
  readonly clock: Clock;
  /** Folder for the pods' files and logs. */
  readonly dir: string;
  /** Of the Service of the operator's apiserver. */
  readonly endpoints: Pick<ServiceEndpoints, 'update'>;
  /** Variables that take the place of what a pod states. */
  readonly environment: (location: PodLocation) => Readonly<Record<string, string>>;
  /** What a pod's container runs; undefined for a pod that no program stands behind. */
  readonly program: (pod: Pod) => StartProgram | undefined;
  /** How the files of running pods are kept up to date. @default once a minute */
  readonly renewal?: Renewal | undefined;
  /** A program that does not answer its liveness probe is ended and started again, but where a test wants it to sleep. @default asked */
  readonly liveness?: 'asked' | 'ignored' | undefined;
  /** Where files of a node's host are on this machine, by their paths there. */
  readonly hostFiles: (nodeName: string) => Readonly<Record<string, string>>;
}

/** How the kubelets keep Secrets and tokens of running pods up to date. */
export interface Renewal extends Pick<PodTokenOptions, 'reissue'> {
  /** How often they look, milliseconds; a real one about once a minute. */
  readonly everyMs: number;
}

/** Where a pod's program finds its files on this machine. */
export interface PodLocation {
  /** What the pod states. */
  readonly stated: Readonly<Record<string, string>>;
  readonly mounts: Mounts;
  /** Folder of the pod's files. */
  readonly dir: string;
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const DEFAULT_TERMINATION_LOG = '/dev/termination-log';
const RENEWAL: Renewal = { everyMs: 60_000 };

const DEFAULT_GRACE_SECONDS = 30;

interface OperatorPod extends Endpoint {
  readonly program: RunningProgram;
  readonly dir: string;
  /** Resolves when the program has ended and nothing is written to its files any more. */
  readonly ended: Promise<void>;
  ready: boolean;
}

interface Starting {
  readonly start: StartProgram;
  readonly exited: () => void;
  readonly ready: (is: boolean) => void;
}

/** Runs the operator's programs for the pods that stand for them, with the files, tokens and environment that each pod would have. */
export class OperatorPods {
  readonly #options: OperatorPodsOptions;
  /** By the pod's UID. */
  readonly #running = new Map<string, OperatorPod>();
  /** Those whose programs do not run yet, by the same. */
  readonly #starting = new Map<string, Promise<OperatorPod>>();

  constructor(options: OperatorPodsOptions) {
    this.#options = options;
  }

  /** Process ids of a component's programs, on every node or on one. */
  pids(component: string, nodeName?: string): readonly number[] {
    return [...this.#running.values()]
      .filter(({ pod: { metadata } }) => metadata.labels?.[COMPONENT_LABEL] === component)
      .filter(({ pod: { spec } }) => nodeName === undefined || spec?.nodeName === nodeName)
      .flatMap(({ program }) => program.pid ?? []);
  }

  /** What runs in the pod; undefined for one that no program stands behind. One that cannot be started has ended. */
  program(pod: Pod): Program | undefined {
    const start = this.#options.program(pod);
    return (
      start && {
        start: (now, ended, ready) =>
          this.#run(now, { start, exited: () => ended(0), ready })
            .catch(() => ended(1))
            .then(() => undefined),
        stop: (how, now) => this.#stop(how, now),
      }
    );
  }

  async #run(pod: Pod, { start, exited, ready }: Starting): Promise<void> {
    const { uid } = pod.metadata;
    const over = new AbortController();
    const starting = this.#start(pod, start, over);
    this.#starting.set(uid, starting);
    const running = await starting.finally(() => this.#starting.delete(uid));
    const told = running.ended.then(exited);
    this.#followLiveness(running, over.signal);
    await this.#untilReady(running, over.signal);
    if (over.signal.aborted) await told;
    else this.#followReadiness(running, ready, over.signal);
  }

  async #stop(how: Stop, pod: Pod): Promise<void> {
    const { uid } = pod.metadata;
    await this.#starting.get(uid)?.catch(() => undefined);
    const running = this.#running.get(uid);
    if (!running) return;
    if (how === 'terminated') await stopProgram(running.program, graceMs(pod), this.#options.clock);
    else running.program.kill();
    await running.ended;
    await rm(running.dir, { recursive: true, force: true });
  }

  /** @param over aborted when the program has ended */
  async #start(bound: Pod, start: StartProgram, over: AbortController): Promise<OperatorPod> {
    const pod = (await this.#options.admitted?.(bound)) ?? bound;
    const { uid, name } = pod.metadata;
    const dir = join(this.#options.dir, uid);
    await mkdir(dir, { recursive: true });
    const ports = await PodPorts.of(pod);
    const files = await this.#mount(pod, dir);
    const mounts = { ...files.mounts, ...(await this.#ownFiles(pod, dir)) };
    const stated = podEnv(pod);
    const env = { ...stated, ...ports.env(), ...this.#options.environment({ stated, mounts, dir }) };
    const program = start(env, join(this.#options.dir, `${name}.log`), mounts);
    const kept = this.#keep(files, over.signal);
    const ended = program.ended.then(() => this.#ended(uid, over)).then(() => kept);
    const running = { pod, ports, program, dir, ended, ready: false };
    this.#running.set(uid, running);
    return running;
  }

  /** Resolves when it is, or has ended. */
  async #untilReady(running: OperatorPod, over: AbortSignal): Promise<void> {
    const probe = containerOf(running.pod)?.readinessProbe;
    if (probe) await untilReady(this.#probing(running, probe), over);
    if (!over.aborted) this.#setReady(running, true);
  }

  /** A program that shares this process would answer itself, and there may be hundreds: those are not asked again. */
  #followReadiness(running: OperatorPod, ready: (is: boolean) => void, over: AbortSignal): void {
    const probe = containerOf(running.pod)?.readinessProbe;
    if (!probe || running.program.pid === undefined) return;
    const changed = (is: boolean): void => {
      this.#setReady(running, is);
      ready(is);
    };
    void followProbe({ ...this.#probing(running, probe), changed }, over);
  }

  #followLiveness(running: OperatorPod, over: AbortSignal): void {
    const { clock, liveness = 'asked' } = this.#options;
    const { program, pod } = running;
    const probe = containerOf(pod)?.livenessProbe;
    if (!probe || program.pid === undefined || liveness === 'ignored') return;
    const changed = (alive: boolean): void => void (alive || stopProgram(program, graceMs(pod), clock));
    const startup = containerOf(pod)?.startupProbe;
    const started = startup ? untilReady(this.#probing(running, startup), over) : Promise.resolve();
    void started.then(() => followProbe({ ...this.#probing(running, probe), changed }, over));
  }

  #probing({ ports }: OperatorPod, probe: Probing['probe']): Probing {
    return { probe, clock: this.#options.clock, ask: askOverHttp(probe, (named) => ports.actual(named)) };
  }

  /** Renews the files until the program has ended. What the API server does not answer is asked for again next time. */
  async #keep(files: PodFiles, over: AbortSignal): Promise<void> {
    const { renewal = RENEWAL, clock } = this.#options;
    while (!over.aborted) {
      await clock.sleep(renewal.everyMs, over).catch(() => undefined);
      if (!over.aborted) await files.refresh().catch(() => undefined);
    }
  }

  #mount(pod: Pod, dir: string): Promise<PodFiles> {
    const { clock, transport, renewal, hostFiles } = this.#options;
    return mountPodFiles(pod, {
      clock,
      transport: transport(pod),
      reissue: renewal?.reissue,
      dir,
      hostFiles: hostFiles(pod.spec?.nodeName ?? ''),
    });
  }

  /** What a container finds without a volume: a file for its last words, and its host's kernel. */
  async #ownFiles(pod: Pod, dir: string): Promise<Mounts> {
    const terminationLog = join(dir, 'termination-log');
    await writeFile(terminationLog, '');
    // For whichever user the container has.
    await chmod(terminationLog, 0o666);
    const bootId = this.#options.hostFiles(pod.spec?.nodeName ?? '')[BOOT_ID];
    const inside = containerOf(pod)?.terminationMessagePath ?? DEFAULT_TERMINATION_LOG;
    return { [inside]: terminationLog, ...(bootId !== undefined && { [BOOT_ID]: bootId }) };
  }

  #ended(uid: string, over: AbortController): void {
    over.abort(new Error('ended'));
    this.#running.delete(uid);
    this.#updateService();
  }

  #setReady(pod: OperatorPod, ready: boolean): void {
    pod.ready = ready;
    this.#updateService();
  }

  #updateService(): void {
    void this.#options.endpoints.update(() => [...this.#running.values()].filter(({ ready }) => ready));
  }
}

/** Milliseconds that a program of the pod has for its own end. */
function graceMs({ metadata, spec }: Pod): number {
  return (metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000;
}
