import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { agentMemory } from './agent/memory.ts';
import { agentReaction } from './agent/reaction.ts';
import { apiserverAbuse } from './apiserver/abuse.ts';
import { controlPlaneDrain } from './apiserver/drain-on-control-plane.ts';
import { apiserverDrains } from './apiserver/drains.ts';
import { heavyDrains } from './apiserver/heavy-drains.ts';
import { apiserverStatuses } from './apiserver/statuses.ts';
import type { Bench, Figure } from './bench.ts';
import { cliStatus } from './cli/status.ts';
import { controllerFootprint } from './controller/footprint.ts';
import { planCost } from './controller/plan-cost.ts';
import { blocked } from './rollout/blocked.ts';
import { evidence } from './rollout/evidence.ts';
import { moves, rollouts, gentle } from './rollout/rollouts.ts';

const BENCHES: readonly Bench[] = [
  agentMemory,
  agentReaction,
  planCost,
  controllerFootprint,
  apiserverStatuses,
  apiserverDrains,
  heavyDrains,
  apiserverAbuse,
  controlPlaneDrain,
  rollouts,
  moves,
  gentle,
  evidence,
  blocked,
  cliStatus,
];
/** This file is bundled into `build/`, one below the project. */
const root = fileURLToPath(new URL('..', import.meta.url));

const HELP = `Measures what docs/benchmarks.md states. Takes minutes; an otherwise idle machine gives the best numbers.

Usage: npm run lab -- bench [--filter TEXT] [--json]

${BENCHES.map(({ name, what }) => `  ${name.padEnd(16)}  ${what}`).join('\n')}
`;

/** Each number as a line for people, or all of them as JSON; the exit code is 1 where one is above what it may be. */
async function main(): Promise<number> {
  const text = { type: 'string', default: '' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ options: { filter: text, json: flag, help: flag } });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const signal = interruption();
  const results: Record<string, readonly Figure[]> = {};
  for (const bench of BENCHES.filter(({ name }) => name.includes(values.filter))) {
    const progress = (what: string): void => void process.stderr.write(`${bench.name}: ${what}\n`);
    const why = bench.skipped?.(process.env);
    if (why !== undefined) {
      progress(`skipped: ${why}`);
      continue;
    }
    results[bench.name] = await bench.run({ progress, signal, root });
    if (!values.json) process.stdout.write(table(bench, results[bench.name] ?? []));
  }
  const machine = { node: process.version, cpus: cpus().length, cpu: cpus()[0]?.model };
  if (values.json) process.stdout.write(`${JSON.stringify({ machine, results }, null, 2)}\n`);
  return Object.values(results).flat().some(isTooMuch) ? 1 : 0;
}

function isTooMuch({ value, atMost = Infinity }: Figure): boolean {
  return value > atMost;
}

function table({ name, what }: Bench, figures: readonly Figure[]): string {
  const width = Math.max(...figures.map((figure) => figure.name.length));
  const rows = figures.map((figure) => {
    const limit = figure.atMost === undefined ? '' : `  (at most ${figure.atMost})`;
    const mark = isTooMuch(figure) ? '  TOO MUCH' : '';
    return `  ${figure.name.padEnd(width)}  ${String(Number(figure.value.toFixed(2)))} ${figure.unit}${limit}${mark}`;
  });
  return `${name}: ${what}\n${rows.join('\n')}\n`;
}

function interruption(): AbortSignal {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort(new Error('interrupted')));
  return stop.signal;
}

process.exitCode = await main();
