import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { unlessAborted, withDeadline } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import { HostUnreachableError } from './errors.ts';
import type { Command, Ended, HostPrograms } from './programs.ts';

/** An offer has a few KiB. More than this says nothing that the agent could read. */
const MAX_OUTPUT_BYTES = 64 * 1024;

/** How long the pipes of a program that has ended are read to their end. */
const CLOSING_MS = 1000;

/** Old versions of updog need a TERM that terminfo knows for their log. */
const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', TERM: 'xterm' };

const LOADERS: Readonly<Partial<Record<NodeJS.Architecture, string>>> = {
  x64: 'ld-linux-x86-64.so.2',
  arm64: 'ld-linux-aarch64.so.1',
};

/**
 * The words before a command that run it in the host's root, which is mounted at `root`. The operator's image has only Node, so this runs the
 * host's own chroot with the host's loader and libraries.
 */
export function chrootInto(root: string, arch: NodeJS.Architecture = process.arch): readonly string[] {
  const libraries = `${root}/lib64`;
  return [`${libraries}/${LOADERS[arch] ?? ''}`, '--library-path', libraries, `${root}/bin/chroot`, root];
}

/** A child without pipes where the system could not create them. Its error comes as an event. */
type Child = ChildProcess & Partial<Record<'stdout' | 'stderr', Readable>>;

interface ChildProcessesOptions {
  /** @see chrootInto @default the program is run where it is */
  readonly prefix?: readonly string[];
  /** The folder that paths of programs without a prefix begin in. @default / */
  readonly root?: string;
  readonly clock: Clock;
}

/** Runs the host's programs as processes of the agent's. They end with its container. */
export class ChildProcesses implements HostPrograms {
  readonly #options: ChildProcessesOptions;
  constructor(options: ChildProcessesOptions) {
    this.#options = options;
  }

  async run(command: Command, timeoutMs: number): Promise<Ended> {
    const { prefix = [], root = '/', clock } = this.#options;
    const [program, ...rest] = command;
    const [file = '', ...args] = prefix.length > 0 ? [...prefix, ...command] : [join(root, program), ...rest];
    const child = started(program, file, args);
    const [stdout, stderr] = [new Beginning(child.stdout), new Beginning(child.stderr)];
    const closed = new Promise((resolve) => child.on('close', resolve));
    let overdue = false;
    const exit = await withDeadline({ clock, ms: timeoutMs }, (limited) => {
      limited.addEventListener('abort', () => {
        overdue = true;
        killAll(child);
      });
      return exitOf(child, command);
    });
    // A process that has left the group may keep the pipes open for ever.
    await withDeadline({ clock, ms: CLOSING_MS }, (limited) => unlessAborted(closed, limited)).catch(() => undefined);
    return { exit, overdue, stdout: stdout.end(), stderr: stderr.end() };
  }
}

/**
 * Starts the program in a process group of its own, so that its children are killed with it.
 * @throws HostUnreachableError where the system refuses at once. Most errors come later as an event
 */
function started(program: string, file: string, args: readonly string[]): Child {
  try {
    return spawn(file, args, { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  } catch (cause) {
    throw unreachable(program, cause);
  }
}

function unreachable(program: string, cause: unknown): HostUnreachableError {
  return new HostUnreachableError(program, (cause as NodeJS.ErrnoException).code ?? 'EPROTO', { cause });
}

/** Kills the group. Children of the program would otherwise go on writing to the disk. */
function killAll({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has ended already.
  }
}

/** Undefined where a signal has killed it. */
function exitOf(child: ChildProcess, [program]: Command): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    child.on('error', (cause) => reject(unreachable(program, cause)));
    child.on('exit', (code) => resolve(code ?? undefined));
  });
}

/** The beginning of a stream. The rest is read and dropped, because a program blocks when nobody reads its output. */
class Beginning {
  readonly #stream: Readable | undefined;
  readonly #read: Buffer[] = [];
  #bytes = 0;

  constructor(stream: Readable | undefined) {
    this.#stream = stream;
    stream?.on('data', (chunk: Buffer) => {
      if (this.#bytes < MAX_OUTPUT_BYTES) this.#read.push(chunk);
      this.#bytes += chunk.length;
    });
  }

  end(): string {
    this.#stream?.destroy();
    return Buffer.concat(this.#read).subarray(0, MAX_OUTPUT_BYTES).toString('utf8');
  }
}
