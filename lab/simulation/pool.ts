import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Job, Result } from './job.ts';
import type { Instant } from './types.ts';
import type { Message } from './serve.ts';

/** Plays the code as it is. */
const WORKER = { path: fileURLToPath(new URL('worker.ts', import.meta.url)), args: [] };
/** Virtual time that has not gone on for so long will not do so any more: somebody goes round in circles. */
const STANDS_STILL_MS = 180_000;
/** A worker plays so many runs, then another takes its place: none may leave memory behind for ever. */
const RUNS = 40;
/** Megabytes. Nearly all that a run makes is soon forgotten; in the usual few megabytes too much of it would be copied before it is. */
const YOUNG = 64;
const EXEC_ARGV = [...process.execArgv, `--min-semi-space-size=${YOUNG}`, `--max-semi-space-size=${YOUNG}`];

type Answer = Extract<Message, { kind: 'result' | 'broke' }>;

/** The program of a worker. */
export interface Program {
  readonly path: string;
  readonly args: readonly string[];
}

interface Worker {
  readonly child: ChildProcess;
  runs: number;
}

/** Plays runs in processes of their own, as many at a time as are asked for. */
export class Pool {
  readonly #idle: Worker[] = [];
  readonly #workers = new Set<Worker>();
  readonly #onProgress: (seed: number, at: Instant) => void;
  readonly #program: Program;

  constructor(onProgress: (seed: number, at: Instant) => void = () => undefined, program: Program = WORKER) {
    this.#onProgress = onProgress;
    this.#program = program;
  }

  /** A run that breaks the simulation, or never ends, has failed. @throws where the simulation does not even begin */
  async run(job: Job): Promise<Result> {
    const worker = this.#idle.pop() ?? (await this.#hire());
    worker.runs += 1;
    const answer = await this.#answer(worker.child, job);
    if (answer.kind === 'result' && worker.runs < RUNS) this.#idle.push(worker);
    else this.#dismiss(worker);
    return answer.kind === 'result' ? answer.result : broken(job, answer.why);
  }

  async #hire(): Promise<Worker> {
    const { path, args } = this.#program;
    const worker: Worker = {
      child: fork(path, [...args], { serialization: 'advanced', execArgv: EXEC_ARGV }),
      runs: 0,
    };
    this.#workers.add(worker);
    const [first] = await Promise.race([once(worker.child, 'message'), once(worker.child, 'exit')]);
    if ((first as Message | null)?.kind !== 'ready') throw new Error('the process of the simulation does not come up');
    return worker;
  }

  #dismiss(worker: Worker): void {
    this.#workers.delete(worker);
    worker.child.kill('SIGKILL');
  }

  #answer(child: ChildProcess, job: Job): Promise<Answer> {
    return new Promise((resolve) => {
      let furthest = -1;
      const still = (): void => done({ kind: 'broke', why: `virtual time stands still at ${furthest} ms` });
      let timer = setTimeout(still, STANDS_STILL_MS);
      const onMessage = (message: Message): void => {
        if (message.kind === 'result' || message.kind === 'broke') return done(message);
        if (message.kind !== 'progress') return;
        this.#onProgress(job.seed, message.at);
        if (message.at <= furthest) return;
        furthest = message.at;
        clearTimeout(timer);
        timer = setTimeout(still, STANDS_STILL_MS);
      };
      const onExit = (code: number | null, signal: string | null): void =>
        done({ kind: 'broke', why: `the process of the run ended by ${signal ?? `itself, with ${code}`}` });
      const done = (answer: Answer): void => {
        clearTimeout(timer);
        child.off('message', onMessage).off('exit', onExit);
        resolve(answer);
      };
      child.on('message', onMessage).on('exit', onExit);
      child.send(job);
    });
  }

  /** Ends all of its processes; runs under way have failed then. */
  end(): void {
    for (const worker of this.#workers) this.#dismiss(worker);
  }
}

function broken(job: Job, why: string): Result {
  const violations = [{ at: 0, invariant: 'a run comes to its end', what: why }];
  return { job, nodes: job.nodes ?? 0, violations, timeline: [], faults: {}, moments: {}, virtualMs: 0 };
}
