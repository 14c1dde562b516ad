import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { SimulatedHost } from './host.ts';

/** What a program does in the simulated host's place: it has the host do its work, and ends as that says. Killed, it hangs up. */
const askHost = (socket: string, command: string): string => `
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
socket.write(JSON.stringify(${command}) + '\\n');
`;

/** Where its programs ask the host. @param dir the host's root */
export function hostSocket(dir: string): string {
  return join(dir, 'host.sock');
}

/** Programs of a simulated host as files of this machine that can be executed. */
export class ProgramServer {
  readonly #host: SimulatedHost;
  readonly #dir: string;
  readonly #connections = new Set<Socket>();
  #server: Server | undefined;

  /** @param dir the host's root: a short path, since it holds a unix socket */
  constructor(host: SimulatedHost, dir: string) {
    this.#host = host;
    this.#dir = dir;
  }

  /** @param programs by their paths on the host. Resolves when they can be run */
  async start(programs: readonly string[]): Promise<void> {
    for (const path of programs) {
      const text = askHost(this.#socket, `[${JSON.stringify(`/${path}`)}, ...process.argv.slice(2)]`);
      await this.write(path, `#!${process.execPath}${text}`, 0o755);
    }
    this.#server = createServer((connection) => this.#serve(connection));
    await new Promise<void>((resolve) => this.#server?.listen(this.#socket, resolve));
  }

  /** A script for Node that asks the host for `command` where that is needed. */
  asking(command: readonly string[]): string {
    return askHost(this.#socket, JSON.stringify(command));
  }

  /** Ends all programs and removes the folder. */
  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.destroy();
    await new Promise((resolve) => (this.#server ? this.#server.close(resolve) : resolve(undefined)));
    await rm(this.#dir, { recursive: true, force: true });
  }

  async write(path: string, text: string, mode: number): Promise<void> {
    const file = join(this.#dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode });
  }

  get #socket(): string {
    return hostSocket(this.#dir);
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
}
