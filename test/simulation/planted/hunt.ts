import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, type Mutant } from '../../mutants/mutant.ts';
import { PLANTED } from './further.ts';
import { copyOfTree, planted } from '../../mutants/tree.ts';
import type { Result } from '../job.ts';
import type { Options } from '../options.ts';
import type { Violation } from '../types.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

type Print = (text: string) => void;

interface Terms {
  readonly print: Print;
  readonly tell: Print;
  readonly signal: AbortSignal;
}

/** How a mutant was found: by which seed, the how many-th it was, and what was violated. */
interface Find {
  readonly mutant: string;
  readonly seeds: number;
  readonly seed?: number;
  readonly violation?: Violation | undefined;
}

/** Whether the simulation finds what is planted, and how many seeds each takes. The exit code. */
export async function hunt(options: Options, terms: Terms): Promise<number> {
  const texts = options.planted ?? [];
  const chosen = PLANTED.filter((mutant) => texts.every((text) => describe(mutant).includes(text)));
  if (chosen.length === 0)
    throw new Error(`no mutant's description contains "${texts.join(' ')}"; see --planted --list`);
  if (options.list) {
    terms.print(chosen.map((mutant) => `${describe(mutant)}\n`).join(''));
    return 0;
  }
  const finds = await huntAll(chosen, options, terms);
  terms.print(options.json ? `${JSON.stringify({ finds })}\n` : summary(finds, options.seeds));
  return finds.every(({ seed }) => seed !== undefined) ? 0 : 1;
}

async function huntAll(mutants: readonly Mutant[], options: Options, terms: Terms): Promise<readonly Find[]> {
  const copies = await Promise.all(Array.from({ length: Math.min(options.jobs, mutants.length) }, copyOfTree));
  const queue = [...mutants];
  const finds: Find[] = [];
  const worker = async (copy: string): Promise<void> => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const find = await huntOne({ copy, mutant, options, signal: terms.signal });
      finds.push(find);
      terms.print(options.json ? `${JSON.stringify(find)}\n` : `${told(find)}\n`);
    }
  };
  try {
    await Promise.all(copies.map(worker));
    return finds;
  } finally {
    for (const copy of copies) await rm(copy, { recursive: true, force: true });
  }
}

interface Hunted {
  readonly copy: string;
  readonly mutant: Mutant;
  readonly options: Options;
  readonly signal: AbortSignal;
}

/** A seed that fails without the mutation, too, has found nothing. */
async function huntOne({ copy, mutant, options, signal }: Hunted): Promise<Find> {
  const first = options.seed ?? 1;
  for (let seed = first; seed < first + options.seeds;) {
    const count = first + options.seeds - seed;
    const from = seed;
    const failed = await planted(copy, mutant, () => firstFailure(copy, { seed: from, count, options, signal }));
    if (!failed) break;
    const { violations } = failed;
    seed = failed.job.seed;
    const unchanged = await firstFailure(ROOT, { seed, count: 1, options, signal });
    if (!unchanged) return { mutant: describe(mutant), seeds: seed - first + 1, seed, violation: violations[0] };
    seed += 1;
  }
  return { mutant: describe(mutant), seeds: options.seeds };
}

interface Range {
  readonly seed: number;
  readonly count: number;
  readonly options: Options;
  readonly signal: AbortSignal;
}

/** The first run of these seeds that fails in the tree; undefined where none does. */
async function firstFailure(tree: string, { seed, count, options, signal }: Range): Promise<Result | undefined> {
  signal.throwIfAborted();
  const args = [
    join(tree, 'test/simulation/main.ts'),
    '--json',
    '--first',
    '--seed',
    String(seed),
    '--seeds',
    String(count),
    '--hours',
    String(options.hours),
    ...(options.nodes === undefined ? [] : ['--nodes', String(options.nodes)]),
  ];
  const child = spawn(process.execPath, args, { cwd: tree, stdio: ['ignore', 'pipe', 'pipe'], signal });
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return undefined;
  if (code !== 1) throw new Error(`the simulation broke in ${tree}: ${errors}`);
  const results = output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Partial<Result>);
  return results.find(({ violations = [] }) => violations.length > 0) as Result | undefined;
}

function told({ mutant, seeds, seed, violation }: Find): string {
  if (seed === undefined) return `NOT FOUND within ${seeds}  ${mutant}`;
  return `found by number ${seeds} (seed ${seed}, "${violation?.invariant}")  ${mutant}: ${violation?.what}`;
}

function summary(finds: readonly Find[], most: number): string {
  const needed = finds.flatMap(({ seed, seeds }) => (seed === undefined ? [] : [seeds])).toSorted((a, b) => a - b);
  const missed = finds.length - needed.length;
  const median = needed[Math.floor(needed.length / 2)] ?? 0;
  return [
    `within ${most} seeds ${needed.length} of ${finds.length} are found: median ${median}, worst ${needed.at(-1) ?? 0}`,
    `${needed.length} passed, ${missed} failed`,
    '',
  ].join('\n');
}
