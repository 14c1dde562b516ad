import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of tests, and seconds of processors: its own, and of the processes that it has started. */
interface Cost {
  readonly file: string;
  readonly own: number;
  readonly children: number;
}

const SHOWN = 10;
const RUNNER = fileURLToPath(new URL('runner.mjs', import.meta.url));

/**
 * Runs the tests that the arguments name, or all, and says which files take most of the processors: what a clock on the wall shows depends
 * on what else the machine does.
 */
async function main(args: readonly string[]): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'slowest-'));
  const log = join(dir, 'log');
  try {
    const jest = ['run', '--silent', 'jest', '--', '--maxWorkers=100%', '--silent', '--testRunner', RUNNER, ...args];
    const child = spawn('npm', jest, { env: { ...process.env, SLOWEST: log }, stdio: 'inherit' });
    const [code] = (await once(child, 'exit')) as [number | null];
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
    process.stdout.write(table(lines.map((line) => JSON.parse(line) as Cost)));
    return code ?? 1;
  } finally {
    await rm(dir, { recursive: true });
  }
}

function table(costs: readonly Cost[]): string {
  const sum = (of: (cost: Cost) => number): number => costs.reduce((total, cost) => total + of(cost), 0);
  const all = (cost: Cost): number => cost.own + cost.children;
  const rows = costs
    .toSorted((a, b) => all(b) - all(a))
    .slice(0, SHOWN)
    .map((cost) => row(cost.file, cost));
  const total = { own: sum((cost) => cost.own), children: sum((cost) => cost.children) };
  return ['\n    CPU s  of which children', ...rows, row(`all ${costs.length} files`, total), ''].join('\n');
}

function row(name: string, { own, children }: Omit<Cost, 'file'>): string {
  return `${(own + children).toFixed(1).padStart(9)} ${children.toFixed(1).padStart(18)}  ${name}`;
}

process.exitCode = await main(process.argv.slice(2));
