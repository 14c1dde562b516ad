import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { APISERVER_ALLOCATOR, APISERVER_NODE_FLAGS } from '../../../runtime/apiserver/config.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { type CertificateAuthority, createCa } from '../../sim/cluster/pki.ts';
import type { MemoryCgroup } from '../cgroup.ts';
import { cpuSeconds, memoryMb } from '../process.ts';
import { freePorts } from '../../sim/world/ports.ts';

/** The Kubernetes API that an apiserver works on. */
export interface Api {
  readonly url: string;
  readonly caPem: string;
  /** The apiserver's own. */
  readonly token: string;
}

/** Where an apiserver listens. */
export interface Endpoint {
  readonly port: number;
  /** Of metrics and probes, without TLS. */
  readonly httpPort: number;
  readonly servername: string;
  readonly caPem: string;
}

const SERVERNAME = 'brupop-apiserver.bench.svc';

/** Answers each message with the bytes in use on the heap after a collection, and ends the process with its parent. */
const PROBE = `
  process.on('message', () => { gc(); process.send(process.memoryUsage().heapUsed); });
  process.on('disconnect', () => process.exit(1));
  process.channel.unref();
`;

/** One apiserver as a process of its own, with files and flags as its pod has them. */
export class Replica {
  readonly endpoint: Endpoint;
  readonly #dir: string;
  readonly #child: ChildProcess;

  private constructor(parts: { endpoint: Endpoint; dir: string; child: ChildProcess }) {
    this.endpoint = parts.endpoint;
    this.#dir = parts.dir;
    this.#child = parts.child;
  }

  /**
   * Resolves when it is ready.
   * @param root folder of the project, whose `build/` is current
   * @param cgroup to run in; it lasts longer than the process
   */
  static async start(root: string, api: Api, cgroup?: MemoryCgroup): Promise<Replica> {
    const dir = await mkdtemp(join(tmpdir(), 'brupop-bench-'));
    const ca = await createCa(systemClock);
    const files = { 'ca.crt': api.caPem, token: api.token, namespace: NAMESPACE };
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
    await putCertificate(join(dir, 'tls'), ca);
    const [port = 0, httpPort = 0] = await freePorts(2);
    const child = launch({ root, dir, api, port, httpPort, cgroup });
    const endpoint = { port, httpPort, servername: SERVERNAME, caPem: ca.certPem };
    const replica = new Replica({ endpoint, dir, child });
    await replica.#ready(httpPort);
    return replica;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  memoryMb(): ReturnType<typeof memoryMb> {
    return memoryMb(this.#child);
  }

  cpuSeconds(): Promise<number> {
    return cpuSeconds(this.#child);
  }

  /** Megabytes that are in use on the heap after a collection. */
  async heapMb(): Promise<number> {
    this.#child.send('heap');
    const [bytes] = (await once(this.#child, 'message')) as [number];
    return bytes / 2 ** 20;
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'exit');
    if (this.#child.kill('SIGKILL')) await ended;
    await rm(this.#dir, { recursive: true, force: true });
  }

  async #ready(httpPort: number): Promise<void> {
    while (this.#child.exitCode === null) {
      const answer = await fetch(`http://127.0.0.1:${httpPort}/readyz`).catch(() => undefined);
      if (answer?.ok) return;
      await sleep(50);
    }
    throw new Error('the apiserver ended before it was ready');
  }
}

/** A key of the kind that the operator's manifests ask cert-manager for. */
async function putCertificate(folder: string, ca: CertificateAuthority): Promise<void> {
  const { certPem, keyPem } = await ca.issue({ commonName: SERVERNAME, dnsNames: [SERVERNAME], key: 'RSA-2048' });
  await mkdir(folder);
  await writeFile(join(folder, 'tls.crt'), certPem);
  await writeFile(join(folder, 'tls.key'), keyPem);
}

interface Launch {
  readonly root: string;
  readonly dir: string;
  readonly api: Api;
  readonly port: number;
  readonly httpPort: number;
  readonly cgroup: MemoryCgroup | undefined;
}

function launch({ root, dir, api, port, httpPort, cgroup }: Launch): ChildProcess {
  const { hostname, port: apiPort } = new URL(api.url);
  const env = {
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: apiPort,
    SERVICE_ACCOUNT_DIR: dir,
    TLS_DIR: join(dir, 'tls'),
    APISERVER_INTERNAL_PORT: String(port),
    HTTP_PORT: String(httpPort),
    TERMINATION_LOG: join(dir, 'termination-log'),
    ...APISERVER_ALLOCATOR,
  };
  const flags = [
    ...APISERVER_NODE_FLAGS,
    '--expose-gc',
    '--import',
    `data:text/javascript,${encodeURIComponent(PROBE)}`,
  ];
  const enter = ['-c', 'echo $$ > "$0" && exec "$@"', cgroup?.entrance ?? '/dev/null'];
  return spawn('/bin/sh', [...enter, process.execPath, ...flags, join(root, 'build', 'apiserver.mjs')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}
