import type { Job, Result } from './job.ts';
import type { Instant } from './types.ts';

/** What a worker tells its pool: that it has come up, how far a run is, and what it came to. */
export type Message =
  | { readonly kind: 'ready' }
  | { readonly kind: 'progress'; readonly at: Instant }
  | { readonly kind: 'result'; readonly result: Result }
  | { readonly kind: 'broke'; readonly why: string };

export type Play = (job: Job, onProgress: (at: Instant) => void) => Promise<Result>;

const PROGRESS_MS = 1000;
const tell = (message: Message): unknown => process.send?.(message);

/** Makes this process a worker: it plays each job that its pool sends. */
export function serve(play: Play): void {
  // The pool ends its workers; an interrupt from the terminal is its own.
  process.on('SIGINT', () => undefined);
  process.on('disconnect', () => process.exit());
  process.on('message', (job: Job) => void answer(play, job));
  tell({ kind: 'ready' });
}

async function answer(play: Play, job: Job): Promise<void> {
  let toldAt = 0;
  try {
    const result = await play(job, (at) => {
      if (performance.now() - toldAt < PROGRESS_MS) return;
      toldAt = performance.now();
      tell({ kind: 'progress', at });
    });
    tell({ kind: 'result', result });
  } catch (error) {
    tell({ kind: 'broke', why: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}
