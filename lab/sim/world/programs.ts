import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '../../../runtime/kube/objects.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import type { Mounts } from './pod-files.ts';
import { containerOf } from './pod-template.ts';

/** A program that a container runs, once started. */
export interface RunningProgram {
  /** Process id; absent for a program that shares the simulation's own process. */
  readonly pid?: number;
  /** Settles when the program has ended, however it did; never rejects. */
  readonly ended: Promise<void>;
  /** Asks it to end, as a kubelet does. */
  terminate(): void;
  /** Ends it, as a power cut does. */
  kill(): void;
}

/** Starts the program of a container with its environment. What it sees of this machine's files is its own affair. @param mounts none by default */
export type StartProgram = (env: Readonly<Record<string, string>>, logFile: string, mounts?: Mounts) => RunningProgram;

/**
 * Arguments with which a Node program ends when this process has, however that came about: nobody else closes its input. The program
 * itself knows nothing of it.
 */
export const ENDS_WITH_US: readonly string[] = [
  '--import',
  `data:text/javascript,${encodeURIComponent("process.stdin.on('close', () => process.exit(1)).resume().unref()")}`,
];

/** A child process, its output in `logFile`. */
export function childProcess(program: string, ...args: readonly string[]): StartProgram {
  return (env, logFile) => {
    const log = createWriteStream(logFile, { flags: 'a' });
    const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    return {
      ...(child.pid !== undefined && { pid: child.pid }),
      ended: untilClosed(child).finally(() => log.end()),
      terminate: () => child.kill('SIGTERM'),
      kill: () => child.kill('SIGKILL'),
    };
  };
}

/** Where the programs are in the image. */
const IN_IMAGE = '/opt/brupop/';

/** The words of the command that the pod states. Undefined for a container of another image. */
export function imageCommand(pod: Pod): readonly string[] | undefined {
  const { command = [], args = [] } = containerOf(pod) ?? {};
  const words = [...command, ...args];
  return words.some((word) => word.startsWith(IN_IMAGE)) ? words : undefined;
}

/**
 * The program that a pod's container runs, by its command: the same flags of Node, the program from `build`. Undefined for a container of
 * another image.
 * @param build folder of this machine in which the programs are
 */
export function podProgram(pod: Pod, build: string): StartProgram | undefined {
  const [, ...words] = imageCommand(pod) ?? [];
  if (words.length === 0) return undefined;
  const args = words.map((word) => (word.startsWith(IN_IMAGE) ? join(build, word.slice(IN_IMAGE.length)) : word));
  return childProcess(process.execPath, ...ENDS_WITH_US, ...args);
}

/** 'error' comes instead of 'close' when the program could not be started at all. */
async function untilClosed(child: ChildProcess): Promise<void> {
  await Promise.race([once(child, 'close'), new Promise((resolve) => child.once('error', resolve))]);
}

/** Asks a program to end and, `graceMs` later, ends it. Resolves when it has. */
export async function stopProgram(program: RunningProgram, graceMs: number, clock: Clock): Promise<void> {
  const over = new AbortController();
  program.terminate();
  const killer = clock.sleep(graceMs, over.signal).then(
    () => program.kill(),
    () => undefined,
  );
  await program.ended;
  over.abort(new Error('ended'));
  await killer;
}
