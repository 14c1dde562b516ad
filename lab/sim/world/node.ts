import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Boot } from '../hosts/machine.ts';
import type { SimulatedHost } from '../hosts/host.ts';
import type { HostKind } from '../hosts/kinds.ts';
import { K3osRoot } from '../hosts/k3os/root.ts';
import { HostRoot } from '../hosts/root.ts';
import { HostSocket } from '../hosts/socket.ts';
import type { NodeSoftware } from '../kubernetes/kubelet/kubelet.ts';

export interface SimulatedNodeOptions {
  readonly host: SimulatedHost;
  /** @default bottlerocket */
  readonly kind?: HostKind;
  readonly kubelet: NodeSoftware;
  /** Folder for the host's files; a short path, since it holds a unix socket. */
  readonly dir: string;
}

/** A Bottlerocket host and the kubelet on it: they boot and go down together. */
export class SimulatedNode {
  readonly host: SimulatedHost;
  /** Where the host's files are on this machine, by their paths there. */
  readonly files: Readonly<Record<string, string>>;
  readonly #options: SimulatedNodeOptions;
  readonly #socket: HostSocket;
  /** Of a host that is updated by its own programs. */
  readonly #root: HostRoot | K3osRoot | undefined;
  readonly #failed = Promise.withResolvers<never>();
  #last: Promise<void> = Promise.resolve();

  constructor(options: SimulatedNodeOptions) {
    this.#options = options;
    this.host = options.host;
    this.files = {
      '/run/api.sock': join(options.dir, 'api.sock'),
      '/proc/sys/kernel/random/boot_id': join(options.dir, 'boot_id'),
      '/': join(options.dir, 'root'),
      ...(options.kind === 'k3os' && k3osFiles(join(options.dir, 'root'))),
    };
    this.#socket = new HostSocket(options.host, this.files['/run/api.sock'] ?? '');
    const { host, kind = 'bottlerocket' } = options;
    const root = this.files['/'] ?? '';
    this.#root = {
      bottlerocket: () => undefined,
      updog: () => new HostRoot(host, root),
      k3os: () => new K3osRoot(host, root),
    }[kind]();
  }

  /** Boots and lives until the signal aborts. Rejects when the node could not follow its host. */
  async run(signal: AbortSignal): Promise<void> {
    const { host, dir } = this.#options;
    await mkdir(dir, { recursive: true });
    const unobserve = host.observe({
      onUp: (boot) => this.#then(() => this.#up(boot, signal)),
      onDown: () => this.#then(() => this.#options.kubelet.shutdown(signal)),
    });
    await this.#socket.start();
    await this.#root?.start();
    host.start(signal);
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    try {
      await Promise.race([stopped, this.#failed.promise]);
    } finally {
      unobserve();
      await this.#last;
      await this.#socket.stop();
      await this.#root?.stop();
    }
  }

  async #up({ id, version }: Boot, signal: AbortSignal): Promise<void> {
    await writeFile(this.files['/proc/sys/kernel/random/boot_id'] ?? '', `${id}\n`);
    const isK3os = this.#options.kind === 'k3os';
    const osImage = isK3os ? `k3OS v${version}` : `Bottlerocket OS ${version} (${this.host.variant})`;
    await this.#options.kubelet.boot({ osImage, bootID: id }, signal);
  }

  /** One after the other: a node that is going down finishes that before it boots. */
  #then(step: () => Promise<void>): void {
    this.#last = this.#last.then(step).catch(this.#failed.reject);
  }
}

/** What an agent sees of a k3OS host. */
function k3osFiles(root: string): Readonly<Record<string, string>> {
  const paths = ['/etc/os-release', '/etc/ssl', '/sbin/k3os', '/k3os/system', '/run/k3os'];
  return Object.fromEntries(paths.map((path) => [path, join(root, path)]));
}
