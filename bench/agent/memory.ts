import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../runtime/lib/clock.ts';
import { AGENT_NODE_FLAGS } from '../../runtime/agent/config.ts';
import type { RunningProgram } from '../../sim/world/programs.ts';
import type { Bench, BenchContext, Figure } from '../bench.ts';
import { MemoryCgroup } from './cgroup.ts';
import { OFFERED, type Stand, WANTED, withStand } from './stand.ts';

/** What the manifests give an agent. */
const LIMIT_MIB = 128;
const LIMITS_MIB = [50, 64, 80, 96, LIMIT_MIB];
const STARTS = 3;
/** An agent that thrashes gets nowhere: a start that takes longer is given up, and counts as this long. */
const LONGEST_START_MS = 20_000;
const SETTLE_MS = 10_000;
/** A whole interval between two looks for updates, and a little. */
const IDLE_MS = 125_000;
const BUSY_MS = 60_000;
const PAUSE_MS = 50;

export const agentMemory: Bench = {
  name: 'agent-memory',
  what: 'one agent in a memory cgroup, its Node binary dropped from the page cache; needs root',
  async run(context) {
    const dir = await mkdtemp(join(tmpdir(), 'brupop-bench-'));
    const node = join(dir, 'node');
    copyFileSync(process.execPath, node);
    try {
      return await withStand(context, async (stand) => [
        ...(await warmStarts(stand, node, context)),
        ...(await coldStarts(stand, node, context)),
        ...(await idle(stand, node, context)),
        ...(await hours(stand, node, context)),
      ]);
    } finally {
      await rm(dir, { recursive: true });
    }
  },
};

async function warmStarts(stand: Stand, node: string, context: BenchContext): Promise<Figure[]> {
  context.progress('warm starts');
  const times: number[] = [];
  for (let start = 0; start <= STARTS; start++) {
    times.push(await inCgroup({ stand, node, limitMiB: LIMIT_MIB }, async ({ firstStatusMs }) => firstStatusMs));
  }
  return [{ name: 'exec to first status, warm', value: median(times.slice(1)), unit: 'ms', atMost: 700 }];
}

async function coldStarts(stand: Stand, node: string, context: BenchContext): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const limitMiB of LIMITS_MIB) {
    context.progress(`cold starts in ${limitMiB} MiB`);
    const times: number[] = [];
    // One start that is given up says enough.
    for (let start = 0; start < STARTS && Math.max(0, ...times) < LONGEST_START_MS; start++) {
      dropFromPageCache(node);
      times.push(await inCgroup({ stand, node, limitMiB }, async ({ firstStatusMs }) => firstStatusMs));
    }
    figures.push({ name: `exec to first status, cold, ${limitMiB} MiB`, value: median(times), unit: 'ms' });
  }
  return figures;
}

function idle(stand: Stand, node: string, context: BenchContext): Promise<Figure[]> {
  context.progress(`idle after a cold start, ${IDLE_MS / 1000} s`);
  dropFromPageCache(node);
  return inCgroup({ stand, node, limitMiB: LIMIT_MIB }, async ({ agent, cgroup }) => {
    await systemClock.sleep(SETTLE_MS, context.signal);
    const [before, cpuBefore] = [await cgroup.read(), cpuMs(agent)];
    await systemClock.sleep(IDLE_MS, context.signal);
    const [after, cpuAfter] = [await cgroup.read(), cpuMs(agent)];
    const faults = (after.majorFaults - before.majorFaults) / (IDLE_MS / 60_000);
    return [
      { name: 'anonymous memory at start', value: before.anonymous / 1e6, unit: 'MB', atMost: 35 },
      { name: 'anonymous memory at idle', value: after.anonymous / 1e6, unit: 'MB', atMost: 35 },
      { name: 'major faults at idle', value: faults, unit: 'a minute', atMost: 10 },
      { name: 'processor at idle', value: (cpuAfter - cpuBefore) / (IDLE_MS / 1000), unit: 'ms a second', atMost: 1 },
    ];
  });
}

/** Two hours of looking for updates, and hundreds of updates that are prepared and called off, in a minute. */
function hours(stand: Stand, node: string, context: BenchContext): Promise<Figure[]> {
  context.progress(`hours in a hurry, ${BUSY_MS / 1000} s`);
  const env = { UPDATE_CHECK_INTERVAL_IN_SEC: '1' };
  return inCgroup({ stand, node, limitMiB: LIMIT_MIB, env }, async ({ cgroup }) => {
    await stand.until(({ status }) => status?.target_version === OFFERED);
    const end = systemClock.monotonic() + BUSY_MS;
    for (let spec = WANTED[0]; systemClock.monotonic() < end; spec = spec === WANTED[0] ? WANTED[1] : WANTED[0]) {
      await stand.want(spec);
      await stand.until(({ status }) => status?.current_state === spec.state);
      await systemClock.sleep(PAUSE_MS, context.signal);
    }
    const { anonymous, oomKills } = await cgroup.read();
    return [
      { name: 'anonymous memory after hours', value: anonymous / 1e6, unit: 'MB', atMost: 35 },
      { name: 'kills for want of memory', value: oomKills, unit: '', atMost: 0 },
    ];
  });
}

interface Place {
  readonly stand: Stand;
  /** Binary of Node. */
  readonly node: string;
  readonly limitMiB: number;
  readonly env?: Readonly<Record<string, string>>;
}

interface Running {
  readonly agent: RunningProgram;
  readonly cgroup: MemoryCgroup;
  readonly firstStatusMs: number;
}

/** Starts an agent in a cgroup of its own and, once it has said what it runs, lets `measure` look at it. */
async function inCgroup<T>(
  { stand, node, limitMiB, env }: Place,
  measure: (running: Running) => Promise<T>,
): Promise<T> {
  const cgroup = await MemoryCgroup.create(limitMiB);
  const enter = ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', cgroup.entrance];
  await stand.deleteShadow();
  const startedAt = systemClock.monotonic();
  const agent = stand.startAgent([...enter, node, ...AGENT_NODE_FLAGS], env);
  try {
    await limited(stand.until(({ status }) => status !== undefined));
    return await measure({ agent, cgroup, firstStatusMs: systemClock.monotonic() - startedAt });
  } finally {
    agent.kill();
    await agent.ended;
    await cgroup.remove();
  }
}

async function limited(started: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  await Promise.race([started, systemClock.sleep(LONGEST_START_MS, over.signal).catch(() => undefined)]);
  over.abort(new Error('started'));
}

/** POSIX_FADV_DONTNEED on the whole file, which Node itself cannot ask for. */
function dropFromPageCache(file: string): void {
  execFileSync('sync', [file]);
  execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none']);
}

/** The kernel counts in hundredths of a second. */
const TICK_MS = 10;

/** Processor time of a process so far, milliseconds. */
function cpuMs({ pid }: RunningProgram): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
