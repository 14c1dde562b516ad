import { spawn } from 'node:child_process';
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
    const failed = new Promise<never>((_, reject) => void child.on('error', reject));
    // A child that has ended takes no question.
    child.stdin.on('error', () => undefined);
    child.stdin.end(JSON.stringify(request));
    try {
      const answer = withDeadline({ clock, ms: READING_MS + SPARE_MS, signal }, (limited) =>
        unlessAborted(Promise.race([readUpTo(child.stdout, MAX_ANSWER_BYTES), failed]), limited),
      );
      return readingOf((await answer).toString('utf8'));
    } catch (error) {
      if (signal.aborted) throw error;
      return { kind: 'failed', why: `its reader has not answered: ${(error as Error).message}` };
    } finally {
      child.kill('SIGKILL');
    }
  };
}

function readingOf(answer: string): Reading {
  try {
    return JSON.parse(answer) as Reading;
  } catch {
    return {
      kind: 'failed',
      why: 'its reader has ended: the repository is too large, or the pod has too little memory',
    };
  }
}
