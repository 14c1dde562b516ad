import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SimulatedHost } from '../host.ts';
import { ProgramServer } from '../program-server.ts';

/** Where the process id of a host's init is, below its root. */
export const INIT_PID = 'init.pid';

/** A simulated k3OS host's root as a folder of this machine: its `k3os` can be executed, and its init is a process that can be told to end. */
export class K3osRoot {
  readonly #dir: string;
  readonly #programs: ProgramServer;
  #init: ChildProcess | undefined;

  /** @param dir where the host's disk is; a short path, since it holds a unix socket */
  constructor(host: SimulatedHost, dir: string) {
    this.#dir = dir;
    this.#programs = new ProgramServer(host, dir);
  }

  async start(): Promise<void> {
    // Each host has it; nothing here needs what would be in it.
    await mkdir(join(this.#dir, 'etc', 'ssl'), { recursive: true });
    await this.#programs.start(['sbin/k3os']);
    // It outlives the boots of its host, and whoever is told to end by it.
    const text = `
      process.on('SIGTERM', () => {
        const exit = process.exit;
        process.exit = () => undefined;
        ${this.#programs.asking(['/sbin/init', 'TERM'])}
      });
      process.stdin.on('close', () => process.kill(process.pid, 'SIGKILL')).resume();
      console.log('up');`;
    this.#init = spawn(process.execPath, ['-e', text], { stdio: ['pipe', 'pipe', 'inherit'] });
    if (this.#init.stdout) await once(this.#init.stdout, 'data');
    await writeFile(join(this.#dir, INIT_PID), String(this.#init.pid));
  }

  async stop(): Promise<void> {
    this.#init?.kill('SIGKILL');
    await this.#programs.stop();
  }
}
