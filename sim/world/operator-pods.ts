import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import type { Clock } from '../../runtime/lib/clock.ts';
import { COMPONENT_LABEL, COMPONENTS } from '../../runtime/shadow/names.ts';
import type { KubeletHooks } from '../kubernetes/kubelet/hooks.ts';
import { mountPodFiles, podEnv, type PodFiles, type PodTemplate } from './pod-files.ts';
import type { PodTokenOptions } from './pod-token.ts';
import { type RunningProgram, type StartProgram, stopProgram } from './programs.ts';
import { followReadiness, type ReadinessProbe } from './readiness.ts';
import type { ServiceAddress } from './service.ts';
import { freePorts } from './ports.ts';

export interface OperatorPodsOptions {
  /** The Kubernetes API as the kubelet of the pod's node reaches it. */
  readonly transport: (pod: Pod) => KubeTransport;
  readonly clock: Clock;
  /** Address of the Kubernetes API. */
  readonly api: { readonly port: number; readonly caPem: string };
  /** Folder for the pods' files and logs. */
  readonly dir: string;
  /** The Service of the operator's apiserver. */
  readonly service: ServiceAddress;
  /** What a pod's container runs; undefined for a pod that no program stands behind. */
  readonly program: (pod: Pod) => StartProgram | undefined;
  /** How the files of running pods are kept up to date. @default once a minute */
  readonly renewal?: Renewal | undefined;
  /** Where files of a node's host are on this machine, by their paths there. */
  hostFiles(nodeName: string): Readonly<Record<string, string>>;
}

/** How the kubelets keep Secrets and tokens of running pods up to date. */
export interface Renewal extends Pick<PodTokenOptions, 'reissue'> {
  /** How often they look, milliseconds; a real one about once a minute. */
  readonly everyMs: number;
}

/** Where the processes look for what a pod has mounted, by the path inside the container. */
const MOUNT_VARIABLES: readonly (readonly [mountPath: string, variable: string, file?: string])[] = [
  ['/etc/brupop-tls-keys', 'TLS_DIR'],
  ['/run/api.sock', 'BOTTLEROCKET_API_SOCKET'],
  ['/var/run/secrets/tokens', 'AGENT_TOKEN_PATH', 'bottlerocket-agent-service-account-token'],
];

const READY_POLL_MS = 25;
const RENEWAL_MS = 60_000;
/** Milliseconds that a program whose pod was deleted has for its own end. */
const GRACE_MS = 5000;

interface OperatorPod {
  readonly program: RunningProgram;
  readonly component: string;
  readonly nodeName: string | undefined;
  /** Of the apiserver's TLS listener. */
  readonly apiPort: number;
  readonly dir: string;
  /** Resolves when the program has ended and nothing is written to its files any more. */
  readonly ended: Promise<void>;
  ready: boolean;
}

/** Runs the operator's programs for the pods that stand for them, with the files, tokens and environment that each pod would have. */
export class OperatorPods implements KubeletHooks {
  readonly #options: OperatorPodsOptions;
  /** By the pod's UID. */
  readonly #running = new Map<string, OperatorPod>();

  constructor(options: OperatorPodsOptions) {
    this.#options = options;
  }

  /** Process ids of a component's programs, on every node or on one. */
  pids(component: string, nodeName?: string): readonly number[] {
    return [...this.#running.values()]
      .filter((pod) => pod.component === component && (nodeName === undefined || pod.nodeName === nodeName))
      .flatMap(({ program }) => program.pid ?? []);
  }

  async onPodStart(pod: Pod, exited: () => void, ready: (is: boolean) => void): Promise<void> {
    const start = this.#options.program(pod);
    if (start === undefined) return;
    const { uid, name, labels } = pod.metadata;
    const component = labels?.[COMPONENT_LABEL] ?? '';
    const dir = join(this.#options.dir, uid);
    await mkdir(dir, { recursive: true });
    const [httpPort = 0, apiPort = 0] = await freePorts(2);
    const files = await mountPodFiles(pod, {
      ...this.#options,
      ...this.#options.api,
      transport: this.#options.transport(pod),
      reissue: this.#options.renewal?.reissue,
      dir,
      hostFiles: this.#hostFiles(pod),
    });
    const env = this.#env(pod, files, { httpPort, apiPort });
    const program = start(env, join(this.#options.dir, `${name}.log`));
    const gone = new AbortController();
    void program.ended.then(() => gone.abort(new Error('ended')));
    const kept = this.#keep(files, gone.signal);
    const ended = program.ended.then(() => this.#ended(uid)).then(() => kept);
    const running = { program, component, nodeName: pod.spec?.nodeName, apiPort, dir, ended, ready: false };
    this.#running.set(uid, running);
    const over = ended.then(exited);
    await Promise.race([this.#untilReady(httpPort, over), over]);
    this.#setReady(running, true);
    // A program that shares this process would answer itself, and there may be hundreds.
    if (program.pid === undefined) return;
    const changed = (is: boolean): void => {
      this.#setReady(running, is);
      ready(is);
    };
    const { clock } = this.#options;
    const ask = (signal: AbortSignal): Promise<boolean> => isReady(httpPort, signal);
    void followReadiness({ probe: readinessProbe(pod), clock, ask, changed }, gone.signal);
  }

  async onPodStop(pod: Pod): Promise<void> {
    const running = this.#running.get(pod.metadata.uid);
    if (!running) return;
    // A node that goes down asks nobody.
    if (pod.metadata.deletionTimestamp === undefined) running.program.kill();
    else await stopProgram(running.program, GRACE_MS, this.#options.clock);
    await running.ended;
    await rm(running.dir, { recursive: true, force: true });
  }

  /** Renews the files until the program has ended. What the API server does not answer is asked for again next time. */
  async #keep(files: PodFiles, ended: AbortSignal): Promise<void> {
    const { renewal, clock } = this.#options;
    while (!ended.aborted) {
      await clock.sleep(renewal?.everyMs ?? RENEWAL_MS, ended).catch(() => undefined);
      if (!ended.aborted) await files.refresh().catch(() => undefined);
    }
  }

  #hostFiles(pod: Pod): Readonly<Record<string, string>> {
    return this.#options.hostFiles(pod.spec?.nodeName ?? '');
  }

  /** What the pod states, with this machine's addresses, ports and paths in place of the container's. */
  #env(
    pod: Pod,
    files: PodFiles,
    ports: { readonly httpPort: number; readonly apiPort: number },
  ): Record<string, string> {
    const { api, service } = this.#options;
    const paths = MOUNT_VARIABLES.filter(([mountPath]) => files.mounts[mountPath] !== undefined).map(
      ([mountPath, variable, file]) => [variable, join(files.mounts[mountPath] ?? '', file ?? '')],
    );
    return {
      ...podEnv(pod),
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(api.port),
      SERVICE_ACCOUNT_DIR: files.serviceAccountDir,
      TERMINATION_LOG: join(this.#options.dir, pod.metadata.uid, 'termination-log'),
      HTTP_PORT: String(ports.httpPort),
      APISERVER_INTERNAL_PORT: String(ports.apiPort),
      APISERVER_ADDRESS: `127.0.0.1:${service.port}`,
      BOOT_ID_PATH: this.#hostFiles(pod)['/proc/sys/kernel/random/boot_id'] ?? '',
      ...Object.fromEntries(paths),
    };
  }

  #ended(uid: string): void {
    this.#running.delete(uid);
    this.#updateService();
  }

  #setReady(pod: OperatorPod, ready: boolean): void {
    pod.ready = ready;
    this.#updateService();
  }

  #updateService(): void {
    const ready = [...this.#running.values()].filter((pod) => pod.component === COMPONENTS.apiserver && pod.ready);
    this.#options.service.setEndpoints(ready.map(({ apiPort }) => apiPort));
  }

  /** Looks more often than the probe of the pod does: nobody here has minutes. */
  async #untilReady(port: number, ended: Promise<void>): Promise<void> {
    const over = { yet: false };
    void ended.finally(() => {
      over.yet = true;
    });
    while (!over.yet) {
      if (await isReady(port).catch(() => false)) return;
      await this.#options.clock.sleep(READY_POLL_MS);
    }
  }
}

/** What a program says of itself. Rejects when it does not answer. */
async function isReady(port: number, signal?: AbortSignal): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, signal && { signal });
  return answer.ok;
}

function readinessProbe({ spec }: Pod): ReadinessProbe {
  return (spec as PodTemplate).containers[0]?.readinessProbe ?? {};
}
