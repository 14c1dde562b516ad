import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

export interface DaemonOptions {
  readonly file: string;
  readonly args: readonly string[];
  /** Its output, kept across restarts. */
  readonly logFile: string;
}

/** A program that runs until it is stopped, and can be started again. */
export class Daemon {
  readonly #options: DaemonOptions;
  #child: ChildProcess | undefined;

  constructor(options: DaemonOptions) {
    this.#options = options;
  }

  /** True from `start` until the program has ended, however it did. */
  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  start(): void {
    const { file, args, logFile } = this.#options;
    const log = openSync(logFile, 'a');
    this.#child = spawn(file, args, { stdio: ['ignore', log, log] });
    // A program that cannot be started at all shows as not running.
    this.#child.on('error', () => undefined);
    closeSync(log);
  }

  /** Asks the program to end (or, with SIGKILL, ends it) and resolves when it has. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    if (!this.#child || !this.running) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill(signal);
    await ended;
  }

  /** The end of what the program wrote. */
  async lastWords(): Promise<string> {
    const text = await readFile(this.#options.logFile, 'utf8').catch(() => '');
    return text.slice(-4000);
  }
}
