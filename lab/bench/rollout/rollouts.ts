import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, BenchContext, Figure } from '../bench.ts';
import type { RolloutResult } from './program.ts';
import { efficiency, MOVES, type Scenario, SCENARIOS, GENTLE } from './scenarios.ts';

const needsRoot = (): string | undefined =>
  process.getuid?.() === 0 ? undefined : 'needs root, for the memory cgroups of the processes';

export const rollouts: Bench = {
  name: 'rollouts',
  what: 'fleets on a real control plane, each process in its limits: how well their time is used, memory of each process, requests of an update',
  skipped: needsRoot,
  run: async (context) => {
    const figures: Figure[] = [];
    for (const scenario of SCENARIOS) {
      context.progress(`${scenario.name}: minutes`);
      figures.push(...figuresOf(scenario, await onControlPlane(context, scenario)));
    }
    return figures;
  },
};

/** What a move costs at best, and what the first nodes add, whose pods find nobody done. */
const atMost = ({ nodes, places, policy }: Scenario): Pick<Figure, 'atMost'> =>
  policy && 'preferUpdated' in policy ? { atMost: 1 + places / nodes + 0.05 } : {};

export const moves: Bench = {
  name: 'moves',
  what: 'how often a pod is moved in a rollout, by the real scheduler',
  skipped: needsRoot,
  run: async (context) => {
    const figures: Figure[] = [];
    for (const scenario of MOVES) {
      context.progress(`${scenario.name}: minutes`);
      const { movesPerPod: value } = await onControlPlane(context, scenario);
      figures.push({ name: `${scenario.name}: moves of a pod`, value, unit: '', ...atMost(scenario) });
    }
    return figures;
  },
};

/** What `settle` may cost a rollout whose workloads come back by themselves. */
const MOST_FOR_GENTLE = 1 / 0.95;

export const gentle: Bench = {
  name: 'gentle',
  what: 'the time of a rollout that waits for what its drains have displaced and widens, as a share of the same without that',
  skipped: needsRoot,
  run: async (context) => {
    const walls: number[] = [];
    for (const scenario of GENTLE) {
      context.progress(`${scenario.name}: minutes`);
      const { wallMs } = await onControlPlane(context, scenario);
      walls.push(wallMs / 1000);
    }
    const [on = NaN, off = NaN] = walls;
    const [{ name }, { name: without }] = GENTLE;
    return [
      { name, value: on, unit: 's' },
      { name: without, value: off, unit: 's' },
      { name: 'with it, of without it', value: on / off, unit: '', atMost: MOST_FOR_GENTLE },
    ];
  },
};

/** Runs the scenario on a control plane of its own, as a process that is within its network. */
async function onControlPlane({ root, signal }: BenchContext, { name }: Scenario): Promise<RolloutResult> {
  const dir = await mkdtemp(join(tmpdir(), 'brupop-rollout-'));
  const result = join(dir, 'result.json');
  try {
    const words = [join(root, 'test/e2e/controlplane/main.ts'), 'exec', process.execPath];
    const args = [...words, join(root, 'lab/bench/rollout/program.ts'), name, result];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    const interrupt = (): boolean => child.kill('SIGTERM');
    signal.addEventListener('abort', interrupt);
    const [code] = (await once(child, 'exit')) as [number | null];
    signal.removeEventListener('abort', interrupt);
    if (code !== 0) throw new Error(`${name}: ended with ${code}`);
    return JSON.parse(await readFile(result, 'utf8')) as RolloutResult;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function figuresOf(scenario: Scenario, { wallMs, memory, requests }: RolloutResult): readonly Figure[] {
  const named = (what: string, value: number, unit: string): Figure => ({
    name: `${scenario.name}: ${what}`,
    value,
    unit,
  });
  const perUpdate = requests.map(({ count }) => count / scenario.nodes);
  return [
    named('wall', wallMs / 1000, 's'),
    named('efficiency', efficiency(scenario, wallMs), ''),
    ...Object.entries(memory).flatMap(([component, processes]) => [
      named(`${component}, resident, at most of ${processes.length}`, most(processes.map(({ rss }) => rss)), 'MiB'),
      named(`${component}, anonymous, at most`, most(processes.map(({ anonymous }) => anonymous)), 'MiB'),
    ]),
    named(
      'requests of an update',
      perUpdate.reduce((sum, count) => sum + count, 0),
      '',
    ),
    ...requests.map(({ account, kind }, index) => named(`${account} ${kind}`, perUpdate[index] ?? NaN, 'an update')),
  ];
}

const most = (values: readonly number[]): number => Math.max(...values);
