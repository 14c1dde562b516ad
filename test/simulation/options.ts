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
  /** Faults by number: left out, or the only ones. */
  readonly without: readonly number[];
  readonly only: readonly number[] | undefined;
  readonly jobs: number;
  readonly first: boolean;
  readonly shrink: boolean;
  /** Lines of the timeline. */
  readonly last: number;
  readonly json: boolean;
  /** Plants the mutants whose description contains each text. */
  readonly planted: readonly string[] | undefined;
  /** How often each is to be found. */
  readonly finds: number;
  readonly list: boolean;
}

export type Parsed =
  | { readonly kind: 'run'; readonly options: Options }
  | { readonly kind: 'help' }
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

const MOST_SEED = 0x7fffffff;

export const HELP = `Plays the whole operator through a storm of faults in virtual time, and judges everything that happened. A seed decides everything.

Usage: npm run lab -- simulate [options]

  --seed N          the first seed, 1 to ${MOST_SEED} (default: drawn anew, and printed)
  --seeds COUNT     so many seeds, from the first one on (default 1)
  --minutes M       as many seeds as M minutes allow, instead of a count
  --hours H         virtual hours of storm in each run; calm follows (default 6)
  --nodes N         nodes in the fleet (default: drawn, 3 to 50, one in twenty 200)
  --jobs N          so many runs at a time, each in a process of its own (default 1)
  --first           ends with the first seed that fails
  --shrink          tries which faults and nodes a failure needs
  --without ID,...  leaves these faults out, by their numbers in the timeline
  --only ID,...     leaves all other faults out
  --last N          lines of the timeline before a violation (default 80)
  --json            prints one JSON object for each run, and one for the whole
  --planted [TEXT]  breaks the protocol in one way at a time as the code is loaded (of those whose description contains TEXT), and
                    plays seeds, the first being 1 unless told and 200 at most, until one fails that does not fail without it
  --finds N         with --planted: until N seeds have failed (default 1); each counts from the one before. A table is printed
  --list            with --planted: shows the ways and plays nothing
  --help            this text

The last line counts the seeds that passed and failed, or the ways that were found and were not.
The exit code is 0 when nothing failed, 1 when something did, 2 for wrong options; with --planted it is 1 when no way was found, or a seed
failed with nothing planted.
`;

const one = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const OPTIONS = {
  seed: one,
  seeds: one,
  minutes: one,
  hours: one,
  nodes: one,
  jobs: one,
  last: one,
  finds: one,
  without: one,
  only: one,
  first: flag,
  shrink: flag,
  json: flag,
  planted: flag,
  list: flag,
  help: { type: 'boolean', short: 'h' },
} as const;

type Raw = ReturnType<typeof parse>;
const parse = (args: readonly string[]) => parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });

/** Every fault of the options is told, each with the name of its option. */
export function parseOptions(args: readonly string[]): Parsed {
  let raw: Raw;
  try {
    raw = parse(args);
  } catch (error) {
    return { kind: 'faults', faults: [error instanceof Error ? error.message : String(error)] };
  }
  if (raw.values.help) return { kind: 'help' };
  const reader = new Reader(raw.values);
  const options = optionsOf(raw, reader);
  const faults = [...reader.faults, ...contradictions(raw)];
  return faults.length > 0 ? { kind: 'faults', faults } : { kind: 'run', options };
}

function optionsOf({ values, positionals }: Raw, reader: Reader): Options {
  return {
    seed: reader.whole('seed', MOST_SEED),
    seeds: reader.whole('seeds', 1_000_000) ?? (values.planted ? 200 : 1),
    minutes: reader.number('minutes', 10_000),
    hours: reader.number('hours', 1000) ?? 6,
    nodes: reader.whole('nodes', 1000),
    jobs: reader.whole('jobs', 64) ?? 1,
    last: reader.whole('last', 1_000_000) ?? 80,
    without: reader.numbers('without') ?? [],
    only: reader.numbers('only'),
    finds: reader.whole('finds', 1000) ?? 1,
    first: Boolean(values.first),
    shrink: Boolean(values.shrink),
    json: Boolean(values.json),
    list: Boolean(values.list),
    planted: values.planted ? positionals : undefined,
  };
}

/** Options that mean nothing together. */
function contradictions({ values, positionals }: Raw): readonly string[] {
  const has = (...options: readonly (keyof Values)[]): boolean => options.some((name) => values[name] !== undefined);
  const { planted } = values;
  const checks: readonly [boolean, string][] = [
    [positionals.length > 0 && !planted, `expected options alone, got ${JSON.stringify(positionals[0])}`],
    [has('seeds') && has('minutes') && !planted, '--minutes: expected it without --seeds'],
    [
      has('without', 'only') && (!has('seed') || has('seeds', 'minutes')),
      `--${has('without') ? 'without' : 'only'}: expected one --seed with it, whose faults it numbers`,
    ],
    [
      has('planted') && has('without', 'only', 'shrink'),
      '--planted: expected it without --without, --only and --shrink',
    ],
    [has('list') && !planted, '--list: expected it with --planted'],
    [has('finds') && !planted, '--finds: expected it with --planted'],
  ];
  return checks.filter(([is]) => is).map(([, fault]) => fault);
}

type Values = Raw['values'];
type TextOption = {
  [Name in keyof typeof OPTIONS]: (typeof OPTIONS)[Name]['type'] extends 'string' ? Name : never;
}[keyof typeof OPTIONS];

class Reader {
  readonly faults: string[] = [];
  readonly #values: Values;

  constructor(values: Values) {
    this.#values = values;
  }

  whole(name: TextOption, most: number): number | undefined {
    return this.#read(name, `a whole number from 1 to ${most}`, (text) =>
      /^[1-9]\d*$/.test(text) && Number(text) <= most ? Number(text) : undefined,
    );
  }

  number(name: TextOption, most: number): number | undefined {
    return this.#read(name, `a number above 0 and up to ${most}`, (text) =>
      /^\d+(\.\d+)?$/.test(text) && Number(text) > 0 && Number(text) <= most ? Number(text) : undefined,
    );
  }

  numbers(name: TextOption): readonly number[] | undefined {
    return this.#read(name, "faults' numbers with commas between them, such as 3,7", (text) =>
      /^\d+(,\d+)*$/.test(text) ? text.split(',').map(Number) : undefined,
    );
  }

  #read<T>(name: TextOption, expected: string, parsed: (text: string) => T | undefined): T | undefined {
    const text = this.#values[name];
    if (text === undefined) return undefined;
    const value = parsed(text);
    if (value === undefined) this.faults.push(`--${name}: expected ${expected}, got ${JSON.stringify(text)}`);
    return value;
  }
}
