import { parseArgs } from 'node:util';

/** What `npm run lab -- simulate` was asked for. */
export interface Options {
  /** The first one; undefined = drawn anew. */
  readonly seed: number | undefined;
  readonly seeds: number;
  /** Seeds are played until so many minutes are over, however many that are. */
  readonly minutes: number | undefined;
  readonly nodes: number | undefined;
  readonly hours: number;
  /** Faults by number, all others being left out. */
  readonly only: readonly number[] | undefined;
  readonly jobs: number;
  readonly shrink: boolean;
  /** Lines of the timeline. */
  readonly last: number;
  /** Plants the mutants whose description contains each text. */
  readonly planted: readonly string[] | undefined;
}

const MOST_SEED = 0x7fffffff;

export const HELP = `Plays the whole operator through a storm of faults in virtual time, and judges everything that happened. A seed decides everything.

Usage: npm run lab -- simulate [options]

  --seed N          the first seed, 1 to ${MOST_SEED} (default: drawn anew, and printed)
  --seeds COUNT     so many seeds, from the first one on (default 1)
  --minutes M       as many seeds as M minutes allow, instead of a count
  --hours H         virtual hours of storm in each run; calm follows (default 6)
  --nodes N         nodes in the fleet (default: drawn, 3 to 50, one in twenty 200)
  --jobs N          so many runs at a time, each in a process of its own (default 1)
  --shrink          tries which faults and nodes a failure needs
  --only ID,...     leaves all other faults out, by their numbers in the timeline
  --last N          lines of the timeline before a violation (default 80)
  --planted [TEXT]  breaks the protocol in one way at a time as the code is loaded (of those whose description contains TEXT), and
                    plays seeds, the first being 1 unless told and 200 at most, until one fails that does not fail without it. A table is printed;
                    npm run lab -- mutants --list shows the ways
  --help            this text

The last line counts the seeds that passed and failed, or the ways that were found and were not.
The exit code is 0 when nothing failed, 1 when something did, 2 for wrong options; with --planted it is 1 when no way was found, or a seed
failed with nothing planted.
`;

const one = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const NUMBERS = { seed: one, seeds: one, minutes: one, hours: one, nodes: one, jobs: one, last: one };
const FLAGS = { shrink: flag, planted: flag, help: { type: 'boolean', short: 'h' } } as const;
const DRAWN = { seed: undefined, minutes: undefined, nodes: undefined };
const USUALLY = { seeds: 1, hours: 6, jobs: 1, last: 80, shrink: false };

/** Undefined where help is asked for. @throws Error that names the option */
export function parseOptions(args: readonly string[]): Options | undefined {
  const options = { ...NUMBERS, only: one, ...FLAGS };
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const { planted, help, only, ...others } = values;
  if (help) return undefined;
  if (positionals.length > 0 && !planted) throw new Error(`${positionals.join(' ')}: expected --planted before it`);
  const given = Object.entries(others).map(([name, text]) => [name, numberOf(name, text)]);
  return {
    ...DRAWN,
    ...USUALLY,
    ...(planted && { seeds: 200 }),
    ...(Object.fromEntries(given) as Partial<Options>),
    only: only?.split(',').map(Number),
    planted: planted ? positionals : undefined,
  };
}

function numberOf(name: string, text: string | boolean): number | boolean {
  if (typeof text === 'boolean' || Number(text) > 0) return typeof text === 'boolean' ? text : Number(text);
  throw new Error(`--${name}: expected a number above 0, got ${JSON.stringify(text)}`);
}
