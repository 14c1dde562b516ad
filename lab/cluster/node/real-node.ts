import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../runtime/lib/clock.ts';
import type { BootInfo } from '../../sim/kubernetes/kubelet/node-status.ts';
import type { NodeSoftware } from '../../sim/kubernetes/kubelet/kubelet.ts';
import { type Address, plugIn } from '../network.ts';
import type { NodeTools } from '../tools.ts';
import { Cgroup } from './cgroups.ts';
import { cniConfig, containerdConfig, kubeletConfig, kubeProxyConfig, osRelease } from './config.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const POLL_MS = 20;

/** What a node needs that only the cluster can give. */
export interface NodeIdentity {
  /** Kubeconfigs of the node's programs, as texts. */
  readonly kubelet: string;
  readonly kubeProxy: string;
  /** Certificate of the authority of those who may ask the kubelet. */
  readonly caPem: string;
}

export interface RealNodeOptions {
  readonly name: string;
  /** Labels with which the node registers. */
  readonly labels: Readonly<Record<string, string>>;
  readonly address: Address;
  /** A line for each: a subnet and who passes it on. */
  readonly routes: string;
  readonly identity: NodeIdentity;
  readonly tools: NodeTools;
  /** A container's specification as containerd has it before it knows the container, with this machine's hooks. */
  readonly baseSpec: object;
  /** Folder of the cluster. */
  readonly clusterDir: string;
  /** The node's /run: a short path, for sockets lie in it. */
  readonly run: string;
  /** Folder of what outlives a boot. */
  readonly disk: string;
}

/** Files that the host has in /run before the node boots. */
const OF_THE_HOST = new Set(['api.sock', 'boot_id']);

/** A real node: containerd, kubelet and kube-proxy in namespaces of their own, which one process holds and a reboot ends. */
export class RealNode implements NodeSoftware {
  readonly #options: RealNodeOptions;
  readonly cgroup: Cgroup;
  #process: ChildProcess | undefined;
  #init: number | undefined;

  constructor(options: RealNodeOptions) {
    this.#options = options;
    this.cgroup = new Cgroup(options.clusterDir, options.name);
  }

  /** containerd's own socket. */
  get containerdSocket(): string {
    return join(this.#options.run, 'containerd', 'containerd.sock');
  }

  /** Writes what stays the same over all boots. Before the first. */
  async install(): Promise<void> {
    const { disk, run, labels, identity, tools, address, routes, baseSpec } = this.#options;
    const etc = (path: string): string => join(disk, 'etc', path);
    for (const folder of ['kubernetes', 'containerd', 'cni/net.d']) await mkdir(etc(folder), { recursive: true });
    for (const folder of [join(disk, 'etc.work'), join(disk, 'var', 'log'), join(disk, 'var', 'lib'), run])
      await mkdir(folder, { recursive: true });
    await symlink('/run', join(disk, 'var', 'run'));
    const files: Readonly<Record<string, string | object>> = {
      routes: routes,
      'resolv.conf': '',
      'machine-id': `${this.#options.name.replaceAll(/[^0-9a-f]/g, '').padStart(32, '0')}\n`,
      'kubernetes/resolv.conf': '',
      'kubernetes/labels': Object.entries(labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(','),
      'kubernetes/ca.crt': identity.caPem,
      'kubernetes/kubelet.kubeconfig': identity.kubelet,
      'kubernetes/kube-proxy.kubeconfig': identity.kubeProxy,
      'kubernetes/kubelet.json': kubeletConfig(this.cgroup.path),
      'kubernetes/kube-proxy.json': kubeProxyConfig(this.#options.name, '/etc/kubernetes/kube-proxy.kubeconfig'),
      'containerd/config.toml': containerdConfig(tools),
      'containerd/base.json': baseSpec,
      'cni/net.d/pods.conflist': cniConfig(address.podSubnet),
    };
    for (const [path, content] of Object.entries(files))
      await writeFile(etc(path), typeof content === 'string' ? content : JSON.stringify(content));
    await copyFile(here('boot-id-hook'), etc('boot-id-hook'));
  }

  async boot({ osImage }: BootInfo): Promise<void> {
    const { name, disk, run, address, tools } = this.#options;
    const [version = ''] = /\d+\.\d+\.\d+\S*/.exec(osImage) ?? [];
    await writeFile(join(disk, 'etc', 'os-release'), osRelease(version, osImage));
    await this.cgroup.create();
    const logFile = join(disk, 'var', 'log', 'boot.log');
    const log = openSync(logFile, 'a');
    const namespaces = ['--mount', '--pid', '--net', '--uts', '--ipc', '--fork', '--kill-child', '--mount-proc'];
    const boot = ['unshare', ...namespaces, here('boot'), name, run, disk, address.ip];
    // It goes down with this process, however that ends.
    this.#process = spawn('setpriv', ['--pdeathsig', 'KILL', ...boot], {
      stdio: ['ignore', log, log],
      cwd: '/',
      env: { PATH: tools.path },
    });
    closeSync(log);
    this.#init = await initOf(this.#process, logFile);
    await plugIn(name, address, this.#init);
  }

  /** Ends all that runs on the node, as a loss of power does; what is on its disk stays. */
  async shutdown(): Promise<void> {
    if (
      this.#process &&
      this.#init !== undefined &&
      this.#process.exitCode === null &&
      this.#process.signalCode === null
    ) {
      const ended = once(this.#process, 'exit');
      // It ends when the last process of its namespace has.
      process.kill(this.#init, 'SIGKILL');
      await ended;
    }
    this.#process = undefined;
    await this.cgroup.remove();
    const { run } = this.#options;
    for (const file of await readdir(run))
      if (!OF_THE_HOST.has(file)) await rm(join(run, file), { recursive: true, force: true });
  }

  /** Process ids, as this process sees them, of a program that runs on the node. */
  async pids(program: string): Promise<readonly number[]> {
    const namespace = await readNamespace(this.#init ?? 0);
    const found = (await readdir('/proc'))
      .filter((entry) => /^\d+$/.test(entry))
      .map(async (entry) => {
        const comm = await readFile(join('/proc', entry, 'comm'), 'utf8').catch(() => '');
        const isOurs = comm.trim() === program.slice(0, 15) && (await readNamespace(Number(entry))) === namespace;
        return isOurs ? [Number(entry)] : [];
      });
    return (await Promise.all(found)).flat();
  }
}

async function readNamespace(pid: number): Promise<string | undefined> {
  return readlink(join('/proc', String(pid), 'ns', 'pid')).catch(() => undefined);
}

/** The process that `unshare` has forked: by then it has made the namespaces. @throws Error when it ended before that */
async function initOf({ pid = 0 }: ChildProcess, logFile: string): Promise<number> {
  const file = join('/proc', String(pid), 'task', String(pid), 'children');
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    // The log goes with the cluster.
    if (text === undefined) throw new Error(`a node did not boot: ${(await readFile(logFile, 'utf8')).trim()}`);
    if (text.trim()) return Number(text);
    await systemClock.sleep(POLL_MS);
  }
}
