import { randomInt } from 'node:crypto';
import { failureText, type Job, type Result, scenarioOf } from './job.ts';
import type { Options } from './options.ts';
import { Pool } from './pool.ts';
import { fewest, needed } from './shrink.ts';
import { timeOf } from './timeline.ts';
import { Totals } from './totals.ts';
import type { Instant } from './types.ts';

const PROGRESS_MS = 15_000;
/** A failure may come so much later when faults are left out. */
const AFTER_MS = 1_800_000;
const MOST_SEED = 0x7fffffff;

export interface Terms {
  /** What was asked for. */
  readonly print: (text: string) => void;
  /** How it goes. */
  readonly tell: (text: string) => void;
  /** Ends it; what has been played is summed up. */
  readonly signal: AbortSignal;
}

/** Many seeds, one after the other. */
export class Campaign {
  readonly #options: Options;
  readonly #terms: Terms;
  readonly #totals = new Totals();
  readonly #pool = new Pool((seed, at) => this.#running.set(seed, at));
  /** How far the runs under way are. */
  readonly #running = new Map<number, Instant>();
  #stopped = false;

  constructor(options: Options, terms: Terms) {
    this.#options = options;
    this.#terms = terms;
    terms.signal.addEventListener('abort', () => this.#end(), { once: true });
  }

  /** The exit code. */
  async play(): Promise<number> {
    const { jobs } = this.#options;
    const began = performance.now();
    const first = this.#options.seed ?? randomInt(1, MOST_SEED);
    this.#terms.print(`the first seed is ${first}\n`);
    const progress = setInterval(() => this.#terms.tell(this.#progress()), PROGRESS_MS);
    let next = 0;
    const worker = async (): Promise<void> => {
      while (this.#goesOn(next, began)) await this.#playSeed(1 + ((first - 1 + next++) % MOST_SEED));
    };
    try {
      await Promise.all(Array.from({ length: jobs }, worker));
    } finally {
      clearInterval(progress);
      this.#end();
    }
    this.#terms.print(this.#totals.text());
    return this.#totals.failed === 0 && !this.#terms.signal.aborted ? 0 : 1;
  }

  /** Ends what is under way. */
  #end(): void {
    this.#stopped = true;
    this.#pool.end();
  }

  #goesOn(played: number, began: number): boolean {
    const { minutes, seeds } = this.#options;
    if (this.#stopped) return false;
    return minutes === undefined ? played < seeds : performance.now() - began < minutes * 60_000;
  }

  async #playSeed(seed: number): Promise<void> {
    const job = this.#job(seed);
    const result = await this.#pool.run(job);
    this.#running.delete(seed);
    if (this.#stopped) return;
    this.#totals.add(result);
    this.#terms.print(failureText(result));
    if (result.violations.length === 0) return;
    if (this.#options.shrink) await this.#shrink(result);
  }

  #job(seed: number): Job {
    const { hours, nodes, only, last } = this.#options;
    return { seed, hours, last, ...(nodes !== undefined && { nodes }), ...(only && { only }) };
  }

  /** Fewer faults first: each of them makes the timeline longer than a node does. */
  async #shrink({ job, nodes, violations: [violation] }: Result): Promise<void> {
    if (!violation) return;
    // A candidate that passes would otherwise be played to its end.
    const cut = violation.at < scenarioOf(job).stormMs && { until: violation.at + AFTER_MS };
    const fails = async (candidate: Job): Promise<boolean> => {
      const { violations } = await this.#pool.run({ ...candidate, ...cut });
      const same = violations.some(({ invariant }) => invariant === violation.invariant);
      this.#terms.tell(
        `${same ? 'still fails' : 'passes'} with ${candidate.only?.length} faults, ${candidate.nodes} nodes\n`,
      );
      return same;
    };
    const before = scenarioOf(job).faults.filter(
      ({ when }) => (when.kind === 'at' ? when.at : when.from) <= violation.at,
    );
    const ids = before.map(({ id }) => id);
    const only = await needed(ids, (kept) => fails({ ...job, nodes, only: kept }));
    const fewestNodes = await fewest(nodes, (fewer) => fails({ ...job, nodes: fewer, only }));
    const shrunk = await this.#pool.run({ ...job, nodes: fewestNodes, only });
    this.#terms.print(
      `shrunk from ${scenarioOf(job).faults.length} faults and ${nodes} nodes to ${only.length} and ${fewestNodes}:\n`,
    );
    this.#terms.print(failureText(shrunk));
  }

  #progress(): string {
    const { seeds, minutes } = this.#options;
    const { runs, failed } = this.#totals;
    const under = [...this.#running].map(([seed, at]) => `seed ${seed} is at ${timeOf(at)}`).join(', ');
    return `${runs} ${minutes === undefined ? `of ${seeds} ` : ''}runs, ${failed} failed; ${under}\n`;
  }
}
