import { systemClock } from '../../../runtime/lib/clock.ts';
import { AGENT_NODE_FLAGS } from '../../../runtime/agent/config.ts';
import type { RunningProgram } from '../../sim/world/programs.ts';
import type { Figure } from '../bench.ts';
import { MemoryCgroup } from '../cgroup.ts';
import type { Stand } from './stand.ts';

/** An agent that thrashes gets nowhere: a start that takes longer is given up, and counts as this long. */
export const LONGEST_START_MS = 20_000;
/** Bytes of anonymous memory that an agent may need. */
const MOST_MB = 35;
const SAMPLE_MS = 20;

export interface CgroupOptions {
  readonly stand: Stand;
  /** Binary of Node. */
  readonly node: string;
  readonly limitMiB: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Running {
  readonly agent: RunningProgram;
  readonly cgroup: MemoryCgroup;
  readonly firstStatusMs: number;
  /** Starts another agent in the same cgroup, once the one before it has ended. */
  readonly startAnother: () => RunningProgram;
}

/** Starts an agent in a cgroup of its own and, once it has said what it runs, lets `measure` look at it. */
export async function inCgroup<T>(
  { stand, node, limitMiB, env }: CgroupOptions,
  measure: (running: Running) => Promise<T>,
): Promise<T> {
  const cgroup = await MemoryCgroup.create(limitMiB);
  const enter = ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', cgroup.entrance];
  const agents: RunningProgram[] = [];
  const startAnother = (): RunningProgram => {
    const agent = stand.startAgent([...enter, node, ...AGENT_NODE_FLAGS], env);
    agents.push(agent);
    return agent;
  };
  await stand.deleteShadow();
  const startedAt = systemClock.monotonic();
  const agent = startAnother();
  try {
    await limited(stand.until(({ status }) => status !== undefined));
    return await measure({ agent, cgroup, firstStatusMs: systemClock.monotonic() - startedAt, startAnother });
  } finally {
    for (const one of agents) one.kill();
    await Promise.all(agents.map(({ ended }) => ended));
    await cgroup.remove();
  }
}

async function limited(started: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  await Promise.race([started, systemClock.sleep(LONGEST_START_MS, over.signal).catch(() => undefined)]);
  over.abort(new Error('started'));
}

/** The highest anonymous memory while `work` runs, and whether the kernel killed anything for want of memory. */
export async function highest(cgroup: MemoryCgroup, during: string, work: () => Promise<void>): Promise<Figure[]> {
  const over = new AbortController();
  const sampled = sample(cgroup, over.signal);
  try {
    await work();
  } finally {
    over.abort(new Error('measured'));
  }
  const { oomKills } = await cgroup.read();
  return [anonymous(`at its highest ${during}`, await sampled), killed(during, oomKills)];
}

async function sample(cgroup: MemoryCgroup, signal: AbortSignal): Promise<number> {
  let most = 0;
  while (!signal.aborted) {
    most = Math.max(most, (await cgroup.read()).anonymous);
    await systemClock.sleep(SAMPLE_MS, signal).catch(() => undefined);
  }
  return most;
}

export function anonymous(when: string, bytes: number): Figure {
  return { name: `anonymous memory ${when}`, value: bytes / 1e6, unit: 'MB', atMost: MOST_MB };
}

export function killed(during: string, oomKills: number): Figure {
  return { name: `kills for want of memory ${during}`, value: oomKills, unit: '', atMost: 0 };
}
