import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterAccess } from '../../../runtime/kube/access.ts';
import { kubeconfigAccess } from '../../../runtime/kube/kubeconfig.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import type { Subject } from '../../../lab/sim/cluster/pki.ts';
import {
  apiserverArguments,
  AUDIT_POLICY,
  controllerManagerArguments,
  etcdArguments,
  etcdUrl,
  type Layout,
  schedulerArguments,
} from './arguments.ts';
import type { Binaries } from '../../../tools/go/build.ts';
import { Daemon } from './daemon.ts';
import { type OwnFolder, ownFolder } from './folder.ts';
import { exchange } from './exchange.ts';
import { admitKwok, KWOK, kwokArguments } from './kwok.ts';
import { Outages } from './outages.ts';
import { DIALS_SERVICES } from './programs.ts';
import { createPki, kubeconfig } from './pki.ts';
import { STAGES } from './stages.ts';
import { freePorts } from '../../../lab/sim/world/ports.ts';

export interface ControlPlaneOptions {
  readonly binaries: Binaries;
  readonly clock: Clock;
  /** Whether somebody will run a kube-proxy beside it. @default false */
  readonly kubeProxy?: boolean;
}

/**
 * A real Kubernetes control plane on free loopback ports: API server, etcd, controllers and scheduler, without any node; and kwok, which is
 * the kubelet of nodes that have `POWER_LABEL`.
 */
export interface ControlPlane {
  readonly url: string;
  /**
   * Folder of everything that the control plane writes, gone after `stop`: `audit.log` (audit.k8s.io/v1, a line per request), in `pids/`
   * the process id of each program under its name, and what `outagesIn` reads.
   */
  readonly dir: string;
  /** File of a kubeconfig of a cluster administrator. */
  readonly kubeconfig: string;
  readonly apiserver: Daemon;
  /** Where etcd answers clients, in plain HTTP. */
  readonly etcdUrl: string;
  /** Resolves when the API server says that it is ready. Rejects when it ended, or took more than a minute. */
  ready(): Promise<void>;
  /** Ends every process and removes every file. */
  stop(): Promise<void>;
}

const ADMIN: Subject = { commonName: 'controlplane-admin', organization: 'system:masters' };
const CONTROLLER_MANAGER: Subject = { commonName: 'system:kube-controller-manager' };
const SCHEDULER: Subject = { commonName: 'system:kube-scheduler' };
const READY_WITHIN_MS = 60_000;
const POLL_MS = 50;

/**
 * Starts everything and resolves when it is ready, the `default` namespace with its service account included. What dies from then on is
 * started again, as static pods are.
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const folder = await ownFolder('controlplane');
  try {
    const layout = await prepare(folder.dir, options);
    const controlPlane = new Running({ ...options, folder, layout });
    try {
      await controlPlane.start();
      return controlPlane;
    } catch (error) {
      await controlPlane.stop();
      throw error;
    }
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

interface Parts extends ControlPlaneOptions {
  readonly folder: OwnFolder;
  readonly layout: Layout;
}

class Running implements ControlPlane {
  readonly url: string;
  readonly dir: string;
  readonly kubeconfig: string;
  readonly apiserver: Daemon;
  readonly etcdUrl: string;
  readonly #parts: Parts;
  readonly #outages: Outages;
  readonly #etcd: Daemon;
  /** What works on objects: controllers, scheduler and kwok. */
  readonly #controllers: readonly Daemon[];

  constructor(parts: Parts) {
    const { folder, layout } = parts;
    this.#parts = parts;
    this.dir = folder.dir;
    this.#outages = new Outages(folder.dir);
    this.url = `https://127.0.0.1:${layout.ports.api}`;
    this.etcdUrl = etcdUrl(layout);
    this.kubeconfig = this.#fileOf(ADMIN);
    this.apiserver = this.#daemon('kube-apiserver', apiserverArguments(layout));
    this.#etcd = this.#daemon('etcd', etcdArguments(layout));
    this.#controllers = [
      this.#daemon('kube-controller-manager', controllerManagerArguments(layout, this.#fileOf(CONTROLLER_MANAGER))),
      this.#daemon('kube-scheduler', schedulerArguments(this.#fileOf(SCHEDULER))),
      this.#daemon('kwok', kwokArguments(this.#fileOf(KWOK), this.#stagesFile)),
    ];
  }

  async start(): Promise<void> {
    for (const user of [ADMIN, CONTROLLER_MANAGER, SCHEDULER, KWOK]) await this.#writeKubeconfig(user);
    await writeFile(this.#stagesFile, STAGES);
    this.#etcd.start();
    this.apiserver.start();
    await this.ready();
    await admitKwok((await kubeconfigAccess(this.kubeconfig)).access);
    for (const daemon of this.#controllers) daemon.start();
    await this.#until('/api/v1/namespaces/default/serviceaccounts/default', this.#controllers[0]);
    await this.#until('/api/v1/namespaces/default/configmaps/kube-root-ca.crt', this.#controllers[0]);
    for (const daemon of this.#controllers)
      if (!daemon.running) throw new Error(`a program of the control plane has ended:\n${await daemon.lastWords()}`);
    // Not before: a program that cannot even start is a fault to show.
    const { clock } = this.#parts;
    for (const daemon of [this.#etcd, ...this.#controllers]) void daemon.keep(clock);
    void this.apiserver.keep(clock, (endedAtMs) => void this.#noteOutage(endedAtMs));
  }

  ready(): Promise<void> {
    return this.#until('/readyz', this.apiserver);
  }

  async stop(): Promise<void> {
    // What depends on something ends before it: nobody waits for a server that is gone.
    await Promise.all(this.#controllers.map((daemon) => daemon.stop('SIGKILL')));
    await this.apiserver.stop('SIGKILL');
    await this.#etcd.stop('SIGKILL');
    await this.#parts.folder.remove();
  }

  async #noteOutage(fromMs: number): Promise<void> {
    this.#outages.began(fromMs);
    // When it has ended before that, its next start notes the end of both.
    const isReady = await this.ready().then(
      () => true,
      () => false,
    );
    if (isReady) this.#outages.over(this.#parts.clock.now());
  }

  #daemon(name: string, args: readonly string[]): Daemon {
    return new Daemon({
      file: this.#parts.binaries[name] ?? name,
      args,
      logFile: join(this.dir, 'logs', `${name}.log`),
      pidFile: join(this.dir, 'pids', name),
    });
  }

  get #stagesFile(): string {
    return join(this.dir, 'stages.yaml');
  }

  #fileOf({ commonName }: Subject): string {
    return join(this.dir, `${commonName.replaceAll(':', '-')}.kubeconfig`);
  }

  async #writeKubeconfig(user: Subject): Promise<void> {
    const { ca } = this.#parts.layout.pki;
    await writeFile(this.#fileOf(user), await kubeconfig(ca, this.url, user), { mode: 0o600 });
  }

  /** Resolves when `path` answers 200. Rejects when the program that it depends on has ended, or after a minute. */
  async #until(path: string, watched: Daemon = this.apiserver): Promise<void> {
    const { clock } = this.#parts;
    const { access } = await kubeconfigAccess(this.kubeconfig);
    const deadline = clock.monotonic() + READY_WITHIN_MS;
    while (!(await isOk(access, path))) {
      const late = clock.monotonic() > deadline;
      if (late || !watched.running) {
        throw new Error(`the control plane did not get ready (${path}):\n${await watched.lastWords()}`);
      }
      await clock.sleep(POLL_MS);
    }
  }
}

async function prepare(dir: string, { clock, kubeProxy = false }: ControlPlaneOptions): Promise<Layout> {
  for (const folder of ['logs', 'pids']) await mkdir(join(dir, folder));
  const auditPolicyFile = join(dir, 'audit-policy.json');
  await writeFile(auditPolicyFile, JSON.stringify(AUDIT_POLICY));
  const [api = 0, etcd = 0, etcdPeer = 0] = await freePorts(3);
  return {
    pki: await createPki(clock, join(dir, 'pki')),
    ports: { api, etcd, etcdPeer },
    dataDir: join(dir, 'etcd'),
    auditPolicyFile,
    auditLogFile: join(dir, 'audit.log'),
    kubeProxy: kubeProxy || DIALS_SERVICES,
  };
}

async function isOk(access: ClusterAccess, path: string): Promise<boolean> {
  const answer = await exchange(access, { path }).catch(() => undefined);
  return answer?.status === 200;
}
