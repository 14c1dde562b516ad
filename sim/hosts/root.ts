import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { SimulatedHost } from './host.ts';

/** The host's own programs, by their paths there. */
const PROGRAMS = ['usr/bin/updog', 'usr/bin/signpost', 'usr/sbin/shutdown'];

/** Loaders of both architectures, in front of the host's chroot: here both are scripts that run what follows. */
const LOADERS = ['lib64/ld-linux-x86-64.so.2', 'lib64/ld-linux-aarch64.so.1'];
const LOADER = '#!/bin/sh\nshift 2\nexec "$@"\n';
const CHROOT = `#!/bin/sh
root="$1"
path="$2"
shift 2
if [ ! -e "$root$path" ]; then
  echo "chroot: failed to run command '$path': No such file or directory" >&2
  exit 127
fi
exec "$root$path" "$@"
`;

/** A program that has the simulated host do its work, and ends as that says. Killed, it hangs up. */
const program = (path: string, socket: string): string => `#!${process.execPath}
const socket = require('node:net').connect(${JSON.stringify(socket)});
let answer = '';
socket.setEncoding('utf8').on('data', (chunk) => (answer += chunk));
socket.on('error', () => process.kill(process.pid, 'SIGKILL'));
socket.on('end', () => {
  const { exit, stdout, stderr } = JSON.parse(answer || '{"stdout":"","stderr":""}');
  process.stderr.write(stderr);
  process.stdout.write(stdout, () => {
    if (exit === undefined) process.kill(process.pid, 'SIGKILL');
    else process.exit(exit);
  });
});
socket.write(JSON.stringify([${JSON.stringify(`/${path}`)}, ...process.argv.slice(2)]) + '\\n');
`;

/** A simulated host's root as a folder of this machine, with its programs as files that can be executed. */
export class HostRoot {
  readonly #host: SimulatedHost;
  readonly #dir: string;
  readonly #connections = new Set<Socket>();
  #server: Server | undefined;
  #unobserve: (() => void) | undefined;
  #written: Promise<void> = Promise.resolve();

  /** @param dir a short path, since it holds a unix socket */
  constructor(host: SimulatedHost, dir: string) {
    this.#host = host;
    this.#dir = dir;
  }

  /** Resolves when the programs can be run. */
  async start(): Promise<void> {
    const socket = join(this.#dir, 'host.sock');
    const executable = (path: string, text: string): Promise<void> => this.#write(path, text, 0o755);
    for (const path of PROGRAMS) await executable(path, program(path, socket));
    for (const path of LOADERS) await executable(path, LOADER);
    await executable('bin/chroot', CHROOT);
    await this.#writeOsRelease();
    this.#unobserve = this.#host.observe({
      onUp: () => {
        this.#written = this.#written.then(() => this.#writeOsRelease());
      },
    });
    this.#server = createServer((connection) => this.#serve(connection));
    await new Promise<void>((resolve) => this.#server?.listen(socket, resolve));
  }

  /** Ends all programs and removes the folder. */
  async stop(): Promise<void> {
    this.#unobserve?.();
    await this.#written;
    for (const connection of this.#connections) connection.destroy();
    await new Promise((resolve) => (this.#server ? this.#server.close(resolve) : resolve(undefined)));
    await rm(this.#dir, { recursive: true, force: true });
  }

  #serve(connection: Socket): void {
    const hungUp = new AbortController();
    this.#connections.add(connection);
    connection.on('close', () => {
      this.#connections.delete(connection);
      hungUp.abort(new Error('the process was killed'));
    });
    connection.on('error', () => undefined);
    let asked = '';
    connection.setEncoding('utf8').on('data', (chunk) => {
      asked += chunk.toString();
      if (!asked.endsWith('\n')) return;
      void this.#host
        .run(JSON.parse(asked) as string[], hungUp.signal)
        .then((end) => void connection.end(JSON.stringify(end)));
    });
  }

  /** Whoever reads it finds the whole of one version. */
  async #writeOsRelease(): Promise<void> {
    const path = 'usr/lib/os-release';
    await this.#write(`${path}.new`, this.#host.osRelease, 0o644);
    await rename(join(this.#dir, `${path}.new`), join(this.#dir, path));
  }

  async #write(path: string, text: string, mode: number): Promise<void> {
    const file = join(this.#dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode });
  }
}
