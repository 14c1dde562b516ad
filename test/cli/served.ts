import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { UserInfo } from '../../lab/sim/cluster/api.ts';
import { ADMIN } from '../../lab/sim/cluster/cluster.ts';
import { type Servable, type ServedCluster, serveCluster } from '../../lab/sim/cluster/https.ts';
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
  /** What starts it. @default the Node of the tests, with the program of npm */
  readonly command?: readonly string[];
}

/** `kubectl brupop` as a user starts it: a process of its own, to its exit code. */
export async function brupop(
  args: readonly string[],
  { env = {}, command: [file = '', ...before] = [process.execPath, PROGRAM] }: RunOptions = {},
) {
  const child = spawn(file, [...before, ...args], { env: { PATH: process.env['PATH'], HOME: folder, ...env } });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  const [code] = (await inTime(`the end of ${args.join(' ')}`, once(child, 'close'))) as [number | null];
  return { code, ...said } satisfies Outcome;
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
