import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { UserInfo } from '../../lab/sim/cluster/api.ts';
import { ADMIN } from '../../lab/sim/cluster/cluster.ts';
import { type Servable, type ServedCluster, serveCluster } from '../../lab/sim/cluster/https.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { runProgram } from '../../runtime/cli/program.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { folder, shared } from '../folder.ts';
import { inTime, until } from '../in-time.ts';

export const PROGRAM = fileURLToPath(new URL('../../build/kubectl-brupop.mjs', import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What starts it, as a process of its own. @default the program in this process, to which nothing but its arguments and environment is given */
  readonly command?: readonly string[];
}

/** `kubectl brupop` as a user calls it, to its exit code. */
export async function brupop(args: readonly string[], { env: given = {}, command }: RunOptions = {}): Promise<Outcome> {
  const env = { PATH: process.env['PATH'], HOME: folder, ...given };
  const said = { out: '', err: '' };
  const out = (chunk: Buffer | string): unknown => (said.out += chunk.toString());
  const err = (chunk: Buffer | string): unknown => (said.err += chunk.toString());
  const what = `the end of ${args.join(' ')}`;
  if (!command) {
    const { signal } = new AbortController();
    const context = { args, env, home: env.HOME, clock: systemClock, signal, terminal: () => PLAIN };
    const code = await inTime(what, runProgram({ ...context, out, err, redraw: out, progress: () => undefined }));
    return { code, ...said };
  }
  const [file = '', ...before] = command;
  const child = spawn(file, [...before, ...args], { env });
  child.stdout.on('data', out);
  child.stderr.on('data', err);
  const [code] = (await inTime(what, once(child, 'close'))) as [number | null];
  return { code, ...said };
}

/** A cluster that is reached over HTTPS with a kubeconfig. */
export class Reached {
  readonly #served: ServedCluster;

  private constructor(served: ServedCluster) {
    this.#served = served;
  }

  static async of(cluster: Servable): Promise<Reached> {
    return new Reached(await serveCluster(cluster));
  }

  async kubeconfig(identity: Parameters<ServedCluster['kubeconfig']>[0] = ADMIN, name = 'config'): Promise<string> {
    // Outside of a test there is no folder of its own.
    const path = join(folder ?? shared, name);
    await writeFile(path, this.#served.kubeconfig(identity));
    return path;
  }

  async run(...args: readonly string[]): Promise<Outcome> {
    return brupop(args, { env: { KUBECONFIG: await this.kubeconfig() } });
  }

  async as(user: UserInfo, ...args: readonly string[]): Promise<Outcome> {
    return brupop(args, { env: { KUBECONFIG: await this.kubeconfig(user, user.username) } });
  }

  /** One that does not end by itself. */
  async start(...args: readonly string[]) {
    return new Running(args, await this.kubeconfig());
  }

  /** What `-o json` gives. */
  async json<T>(...args: readonly string[]): Promise<T> {
    const { code, out, err } = await this.run(...args, '-o', 'json');
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${err}`);
    return JSON.parse(out) as T;
  }

  close(): Promise<void> {
    return this.#served.close();
  }
}

class Running {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown[]>;
  out = '';

  constructor(args: readonly string[], kubeconfig: string) {
    const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: kubeconfig };
    this.child = spawn(process.execPath, [PROGRAM, ...args], { env });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.out += chunk.toString()));
    this.ended = once(this.child, 'exit');
  }

  said(text: string): Promise<void> {
    return until(`"${text}" on its output`, () => this.out.includes(text));
  }
}
