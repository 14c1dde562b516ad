import { fileURLToPath } from 'node:url';
import { describe, type Mutant } from '../../mutants/mutant.ts';
import { mutantsAbout } from '../../mutants/register.ts';
import type { Terms } from '../campaign.ts';
import type { Job, Result } from '../job.ts';
import type { Options } from '../options.ts';
import type { Topic } from '../plots.ts';
import { Pool } from '../pool.ts';
import { draw } from '../scenario.ts';

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));
/** A mutant is tried with so many storms at first, then it is another's turn: what is found easily does not wait for what is not. Later with as many as before. */
const TURN = 2;

/** What the storms are about in which the mutants of a rule are looked for, by the beginning of its name: those of none, and these. */
const TOPICS_OF: readonly (readonly [RegExp, readonly Topic[]])[] = [
  [/^P1[46]/, ['arrivals', 'gates']],
  [/^P9/, ['failures', 'gates']],
  [/^L8|^P/, ['gates', 'steps']],
  [/^L6/, ['permits', 'gates']],
  [/^L11/, ['gates', 'steps']],
  [/^L12/, ['lists', 'permits']],
  [/^L/, ['permits', 'steps']],
  [/^M[1-4]|^M9/, ['drains']],
  [/^M/, ['marks']],
  [/^B11/, ['locks']],
  [/^[BC]/, ['hosts']],
  [/^F[34]/, ['ledgers', 'failures']],
  [/^F/, ['failures', 'gates']],
];

/** How far the hunt for one mutant is. */
interface Quarry {
  readonly mutant: Mutant;
  /** How it was found. */
  find?: { readonly seed: number; readonly invariant: string };
  /** Seeds that were looked at. */
  seeds: number;
  /** Of these, storms that were played with it: about its rule, or about nothing, and passing the text that it changes. */
  storms: number;
}

/**
 * Whether the simulation finds what is planted, and how many seeds each takes. The exit code: how much is found depends on the time that there was, so
 * only a hunt that finds nothing fails, and one whose storms fail with nothing planted.
 */
export async function hunt(options: Options, { print, signal }: Pick<Terms, 'print' | 'signal'>): Promise<number> {
  const quarries = mutantsAbout(options.planted ?? []).map((mutant): Quarry => ({ mutant, seeds: 0, storms: 0 }));
  const tell = (quarry: Quarry): void => print(told(quarry));
  print(HEADING);
  const failed = await new Hunt(options, { signal, tell }).play(quarries);
  print(summary(quarries, failed));
  return failed.length > 0 || quarries.every(({ find }) => !find) ? 1 : 0;
}

interface HuntTerms {
  readonly signal: AbortSignal;
  /** Called for each mutant once nothing more is tried. */
  readonly tell: (quarry: Quarry) => void;
}

class Hunt {
  readonly #options: Options;
  readonly #terms: HuntTerms;
  readonly #first: number;
  readonly #endsAt: number;
  readonly #unchanged: Pool;
  /** What each seed comes to in the code as it is: played once, for all mutants. */
  readonly #results = new Map<number, Promise<Result>>();
  readonly #failed = new Set<number>();

  constructor(options: Options, terms: HuntTerms) {
    this.#options = options;
    this.#terms = terms;
    this.#first = options.seed ?? 1;
    this.#endsAt = performance.now() + (options.minutes ?? Infinity) * 60_000;
    this.#unchanged = this.#pool([]);
  }

  /** Resolves with the seeds that failed in the code as it is. */
  async play(quarries: readonly Quarry[]): Promise<readonly number[]> {
    const queue = [...quarries];
    const hunter = async (): Promise<void> => {
      for (let quarry = queue.shift(); quarry !== undefined; quarry = queue.shift()) {
        await this.#turn(quarry);
        if (this.#goesOn(quarry)) queue.push(quarry);
        else this.#terms.tell(quarry);
      }
    };
    try {
      await Promise.all(Array.from({ length: this.#options.jobs }, hunter));
    } finally {
      this.#unchanged.end();
    }
    return [...this.#failed].toSorted((a, b) => a - b);
  }

  #goesOn({ find, seeds }: Quarry): boolean {
    this.#terms.signal.throwIfAborted();
    return !find && seeds < this.#options.seeds && performance.now() < this.#endsAt;
  }

  async #turn(quarry: Quarry): Promise<void> {
    const pool = this.#pool([describe(quarry.mutant)]);
    const end = quarry.storms + Math.max(TURN, quarry.storms);
    try {
      while (quarry.storms < end && this.#goesOn(quarry)) await this.#try(quarry, pool);
    } finally {
      pool.end();
    }
  }

  /** A seed that fails without the mutation, too, has found nothing; one that does not pass the text plays the same run with it. */
  async #try(quarry: Quarry, pool: Pool): Promise<void> {
    const seed = this.#first + quarry.seeds;
    quarry.seeds += 1;
    if (!isAbout(draw(seed, this.#job(seed)).topic, quarry.mutant)) return;
    const unchanged = this.#results.get(seed) ?? this.#unchanged.run(this.#job(seed));
    this.#results.set(seed, unchanged);
    const { violations: before, passed } = await unchanged;
    if (before.length > 0) this.#failed.add(seed);
    if (before.length > 0 || !passed?.includes(describe(quarry.mutant))) return;
    quarry.storms += 1;
    const [violation] = (await pool.run(this.#job(seed))).violations;
    this.#terms.signal.throwIfAborted();
    if (violation) quarry.find = { seed, invariant: violation.invariant };
  }

  #job(seed: number): Job {
    const { hours, nodes, last } = this.#options;
    return { seed, hours, last, ...(nodes !== undefined && { nodes }) };
  }

  #pool(args: readonly string[]): Pool {
    const pool = new Pool(undefined, { path: WORKER, args });
    this.#terms.signal.addEventListener('abort', () => pool.end());
    return pool;
  }
}

const isAbout = (topic: Topic | undefined, { rule }: Mutant): boolean =>
  topic === undefined || (TOPICS_OF.find(([rules]) => rules.test(rule))?.[1].includes(topic) ?? true);

const HEAD = ['bug', 'invariant', 'storms', 'seed'];

const row = (cells: readonly unknown[]): string => `| ${cells.join(' | ')} |\n`;

const HEADING = row(HEAD) + row(HEAD.map(() => '---'));

/** A row of the table that is printed. */
function told({ mutant: { rule, does }, find, seeds, storms }: Quarry): string {
  const bug = `${rule}: ${does}`;
  if (!find) return row([bug, `not found in ${storms} storms, of ${seeds} seeds`, '', '']);
  return row([bug, `\`${find.invariant}\``, storms, find.seed]);
}

const middle = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)] ?? 0;

function summary(quarries: readonly Quarry[], failed: readonly number[]): string {
  const needed = quarries.flatMap(({ find, storms }) => (find ? storms : [])).toSorted((a, b) => a - b);
  const found = needed.length;
  return [
    `${found} of ${quarries.length} are found: median ${middle(needed)} storms, worst ${needed.at(-1) ?? 0}`,
    ...(failed.length > 0 ? [`seeds that fail with nothing planted: ${failed.join(', ')}`] : []),
    `${found} passed, ${quarries.length - found} failed`,
    '',
  ].join('\n');
}
