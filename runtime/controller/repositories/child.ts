import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { unlessAborted, withDeadline } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import { readUpTo } from '../../lib/http.ts';
import { type Reading, READING_MS, type Request } from '../../repositories/protocol.ts';

/** More than the reader takes for itself: to start, and to end. */
const SPARE_MS = 10_000;
/** A manifest of some hundred versions comes to less. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Megabytes. A manifest has 200 KB at most. */
const HEAP = ['--max-old-space-size=48', '--max-semi-space-size=2'];
/** What it may know of this process's surroundings: never a token. */
const HANDED_ON = ['HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy', 'NODE_EXTRA_CA_CERTS'];

/** Reads a repository in a process of its own, which ends with the reading: what it took of memory is free then. */
export type ReadRepository = (request: Request, signal: AbortSignal) => Promise<Reading>;

/** @param program its file; beside this process's own by default */
export function readInChild(
  clock: Clock,
  program: string = join(import.meta.dirname, 'repository.mjs'),
): ReadRepository {
  return async (request, signal) => {
    const named = HANDED_ON.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    const child = spawn(process.execPath, [...HEAP, program], {
      env: Object.fromEntries(named),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    // An error, too, if it cannot be started.
    const ended = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
    // A child that has ended takes no question.
    child.stdin.on('error', () => undefined);
    child.stdin.end(JSON.stringify(request));
    try {
      const answered = withDeadline({ clock, ms: READING_MS + SPARE_MS, signal }, (limited) =>
        unlessAborted(Promise.all([readUpTo(child.stdout, MAX_ANSWER_BYTES), ended]), limited),
      );
      const [answer, [code, killed]] = await answered;
      return readingOf(answer.toString('utf8')) ?? { kind: 'failed', why: whyOf(code, killed) };
    } catch (error) {
      if (signal.aborted) throw error;
      return { kind: 'failed', why: `its reader has not answered: ${(error as Error).message}` };
    } finally {
      child.kill('SIGKILL');
    }
  };
}

function readingOf(answer: string): Reading | undefined {
  try {
    return JSON.parse(answer) as Reading;
  } catch {
    return undefined;
  }
}

/** Node ends by a signal where its heap is full, and the kernel ends it so where the pod's memory is. */
function whyOf(code: number | null, killed: string | null): string {
  return killed === null
    ? `its reader has ended with ${code} and no answer`
    : `its reader was ended by ${killed}: the repository is too large, or the pod has too little memory`;
}
