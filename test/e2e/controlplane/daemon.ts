import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../../runtime/lib/clock.ts';

export interface DaemonOptions {
  readonly file: string;
  readonly args: readonly string[];
  /** Its output, kept across restarts. */
  readonly logFile: string;
  /** Where its process id is written at each start. */
  readonly pidFile?: string;
}

/** About as long as a kubelet takes to see that a static pod has died. */
const RESTART_AFTER_MS = 1000;

/** A program that runs until it is stopped, and can be started again. */
export class Daemon {
  readonly #options: DaemonOptions;
  #child: ChildProcess | undefined;
  #kept = new AbortController();

  constructor(options: DaemonOptions) {
    this.#options = options;
  }

  /** True from `start` until the program has ended, however it did. */
  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  start(): void {
    const { file, args, logFile, pidFile } = this.#options;
    const log = openSync(logFile, 'a');
    const child = spawn(file, args, { stdio: ['ignore', log, log] });
    // A program that cannot be started at all shows as not running.
    child.on('error', () => undefined);
    closeSync(log);
    if (pidFile !== undefined && child.pid !== undefined) writeFileSync(pidFile, String(child.pid));
    this.#child = child;
  }

  /**
   * From now on the program is started again a second after it has ended by itself or was killed, until `stop`. Resolves then.
   * @param onRestart told after each start when the program before it had ended, milliseconds since the Unix epoch
   */
  async keep(clock: Clock, onRestart: (endedAtMs: number) => void = () => undefined): Promise<void> {
    this.#kept = new AbortController();
    const { signal } = this.#kept;
    while (!signal.aborted) {
      if (this.#child && this.running) await once(this.#child, 'exit');
      const endedAtMs = clock.now();
      await clock.sleep(RESTART_AFTER_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      this.start();
      onRestart(endedAtMs);
    }
  }

  /** Asks the program to end (or, with SIGKILL, ends it) and resolves when it has. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    this.#kept.abort();
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
