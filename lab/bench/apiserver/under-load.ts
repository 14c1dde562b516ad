import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Figure } from '../bench.ts';
import { quantile } from '../controller/cpu.ts';
import type { Load, LoadResult } from './load.ts';
import type { Stand } from './stand.ts';

/** Seconds for which a token counts as good at least, once it was reviewed. */
const TOKEN_SECONDS = 7.5;
const MOST_MS = 100;

export interface UnderLoad extends Omit<Load, 'endpoint' | 'agents'> {
  readonly root: string;
  /** Begins each figure's name. */
  readonly how: string;
}

/** Puts statuses to a stand's apiserver, by a process of its own, and says how that went. */
export async function underLoad(stand: Stand, { root, how, ...load }: UnderLoad): Promise<readonly Figure[]> {
  const { metered, replica, agents } = stand;
  metered.takeMostReviews();
  const began = performance.now();
  const before = { apiserver: await replica.cpuSeconds(), cluster: process.cpuUsage() };
  const result = await generate(root, { ...load, endpoint: replica.endpoint, agents });
  const apiserver = (await replica.cpuSeconds()) - before.apiserver;
  const cluster = process.cpuUsage(before.cluster);
  const periods = Math.ceil((performance.now() - began) / 1000 / TOKEN_SECONDS);
  const cost = (seconds: number): Pick<Figure, 'value' | 'unit'> => {
    const statuses = Object.values(result.answers).reduce((sum, count) => sum + count, 0);
    return { value: (1000 * seconds) / statuses, unit: 'ms' };
  };
  const figures: Figure[] = [
    ...answersOf(result),
    { name: 'TokenReviews of one token, at most', value: metered.takeMostReviews(), unit: '', atMost: periods },
    { name: 'CPU of the apiserver for a status', ...cost(apiserver) },
    { name: 'CPU of the embedded cluster for a status', ...cost((cluster.user + cluster.system) / 1e6) },
    { name: 'CPU of the load for a status', ...cost(result.cpuSeconds) },
  ];
  return figures.map((figure) => prefixed(how, figure));
}

function prefixed(how: string, figure: Figure): Figure {
  return { ...figure, name: `${how}: ${figure.name}` };
}

function answersOf({ latencies, lags, answers, certificates }: LoadResult): Figure[] {
  const errors = Object.entries(answers).filter(([answer]) => answer !== '200');
  const kinds = errors.map(([answer, count]) => `${count} times ${answer}`).join(', ');
  return [
    { name: 'statuses', value: latencies.length, unit: '' },
    { name: 'errors', value: errors.reduce((sum, [, count]) => sum + count, 0), unit: kinds, atMost: 0 },
    { name: 'median', value: quantile(latencies, 0.5), unit: 'ms' },
    { name: 'p99', value: quantile(latencies, 0.99), unit: 'ms', atMost: MOST_MS },
    { name: 'slowest', value: quantile(latencies, 1), unit: 'ms' },
    { name: 'of that the load itself was late, p99', value: quantile(lags, 0.99), unit: 'ms' },
    { name: 'certificates shown', value: certificates, unit: '' },
  ];
}

async function generate(root: string, load: Load): Promise<LoadResult> {
  const child = fork(join(root, 'build', 'bench-load.mjs'));
  child.send(load);
  const [result] = (await once(child, 'message')) as [LoadResult];
  child.disconnect();
  return result;
}
