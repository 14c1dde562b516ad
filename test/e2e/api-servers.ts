import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { ClusterAccess } from '../../runtime/kube/access.ts';
import { httpsTransport } from '../../runtime/kube/https.ts';
import { kubeconfigAccess } from '../../runtime/kube/kubeconfig.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { freePorts } from '../../lab/sim/world/ports.ts';
import { type ServiceAddress, serveService } from '../../lab/sim/world/service.ts';
import type { RealCluster } from './cluster.ts';
import { comesTrue } from './come-true.ts';
import { Daemon } from './controlplane/daemon.ts';
import { exchange } from './controlplane/exchange.ts';

/** How often a load balancer asks a server whether it is ready. */
const ASKED_EACH_MS = 500;

/** One API server. */
export interface ApiServer {
  readonly port: number;
  /** What it has said when it was asked last. A load balancer leads new connections only to a server that is ready. */
  isReady: boolean;
}

/**
 * The control plane's API server, and a second one on the same etcd that can be cut off from it: each is asked whether it is ready, as load balancers
 * in front of API servers do.
 */
export class ApiServers {
  readonly first: ApiServer;
  readonly second: ApiServer;
  readonly #parts: Parts;
  readonly #balancers: { readonly address: ServiceAddress; readonly behind: readonly ApiServer[] }[] = [];
  readonly #over = new AbortController();

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.first = { port: parts.firstPort, isReady: true };
    this.second = { port: parts.secondPort, isReady: false };
  }

  /** Starts the second with the command line of the first, and resolves when it is ready. */
  static async start({ dir, kubeconfig, api }: RealCluster): Promise<ApiServers> {
    const pid = await readFile(join(dir, 'pids', 'kube-apiserver'), 'utf8');
    const [file = '', ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(0, -1);
    const [, etcd] = /--etcd-servers=\S+:(\d+)/.exec(args.join(' ')) ?? [];
    const [secondPort = 0, linePort = 0] = await freePorts(2);
    const line = await Line.open(linePort, Number(etcd));
    const own = new Map([
      ['--secure-port', String(secondPort)],
      ['--etcd-servers', `http://127.0.0.1:${linePort}`],
      ['--audit-log-path', join(dir, 'logs', 'audit-of-second.log')],
    ]);
    const program = new Daemon({
      file,
      args: args.map((arg) => withOwn(arg, own)),
      logFile: join(dir, 'logs', 'kube-apiserver-second.log'),
      pidFile: join(dir, 'pids', 'kube-apiserver-second'),
    });
    const { access } = await kubeconfigAccess(kubeconfig);
    const servers = new ApiServers({ program, access, line, firstPort: api.port, secondPort });
    await servers.#begin();
    return servers;
  }

  async #begin(): Promise<void> {
    this.#parts.program.start();
    void this.#keepAsking();
    await comesTrue(() => this.second.isReady);
  }

  /** A client that comes by a load balancer's address. @param behind it, the one that it likes best first */
  async behindBalancer(...behind: readonly ApiServer[]): Promise<KubeTransport> {
    const address = await serveService();
    this.#balancers.push({ address, behind });
    this.#lead();
    return this.#client(address.port);
  }

  /** A client of one server, ready or not. */
  at({ port }: ApiServer): KubeTransport {
    return this.#client(port);
  }

  /** The second one hears of etcd no more, until `joinEtcd`. Resolves when it says that it is not ready. */
  async cutOffEtcd(): Promise<void> {
    this.#parts.line.cut();
    await comesTrue(() => !this.second.isReady);
  }

  joinEtcd(): void {
    this.#parts.line.mend();
  }

  async stop(): Promise<void> {
    this.#over.abort(new Error('over'));
    await this.#parts.program.stop('SIGKILL');
    this.#parts.line.close();
    await Promise.all(this.#balancers.map(({ address }) => address.close()));
  }

  async #keepAsking(): Promise<void> {
    while (!this.#over.signal.aborted) {
      for (const server of [this.first, this.second]) server.isReady = await this.#asked(server);
      this.#lead();
      await systemClock.sleep(ASKED_EACH_MS, this.#over.signal).catch(() => undefined);
    }
  }

  async #asked({ port }: ApiServer): Promise<boolean> {
    const answer = await exchange(this.#access(port), { path: '/readyz' }).catch(() => undefined);
    return answer?.status === 200;
  }

  /** Connections that stand are left alone. */
  #lead(): void {
    for (const { address, behind } of this.#balancers) {
      const chosen = behind.find(({ isReady }) => isReady);
      address.setEndpoints(chosen ? [chosen.port] : []);
    }
  }

  #client(port: number): KubeTransport {
    return httpsTransport(this.#access(port), { userAgent: 'e2e' });
  }

  #access(port: number): ClusterAccess {
    return { ...this.#parts.access, server: `https://127.0.0.1:${port}` };
  }
}

interface Parts {
  readonly program: Daemon;
  /** As cluster administrator. */
  readonly access: ClusterAccess;
  /** On which the second one finds etcd. */
  readonly line: Line;
  readonly firstPort: number;
  readonly secondPort: number;
}

/** Connections over TCP on which at times nothing gets through, as where packets are dropped: it is on its way until then. */
class Line {
  readonly #server = createServer((near) => this.#carry(near));
  readonly #to: number;
  readonly #ends = new Map<Socket, Socket>();
  #isCut = false;

  private constructor(to: number) {
    this.#to = to;
  }

  static async open(port: number, to: number): Promise<Line> {
    const line = new Line(to);
    await once(line.#server.listen(port, '127.0.0.1'), 'listening');
    return line;
  }

  cut(): void {
    this.#isCut = true;
    for (const [from, to] of this.#ends) from.unpipe(to);
  }

  mend(): void {
    this.#isCut = false;
    for (const [from, to] of this.#ends) from.pipe(to);
  }

  close(): void {
    this.#server.close();
    for (const end of this.#ends.keys()) end.destroy();
  }

  #carry(near: Socket): void {
    const far = connect(this.#to, '127.0.0.1');
    this.#join(near, far);
    this.#join(far, near);
  }

  #join(from: Socket, to: Socket): void {
    this.#ends.set(from, to);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#ends.delete(from);
      to.destroy();
    });
    if (!this.#isCut) from.pipe(to);
  }
}

function withOwn(arg: string, own: ReadonlyMap<string, string>): string {
  const [name = ''] = arg.split('=');
  const value = own.get(name);
  return value === undefined ? arg : `${name}=${value}`;
}
