import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../runtime/lib/clock.ts';
import type { RunningProgram } from '../../sim/world/programs.ts';
import type { Bench, BenchContext, Figure } from '../bench.ts';
import { anonymous, highest, inCgroup, killed, LONGEST_START_MS } from './in-cgroup.ts';
import { OFFERED, type Stand, WANTED, withStand } from './stand.ts';
import { wholeUpdate } from './whole-update.ts';

/** What the manifests give an agent. */
const LIMIT_MIB = 128;
const LIMITS_MIB = [50, 64, 80, 96, LIMIT_MIB];
const STARTS = 3;
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
        ...(await rollout(stand, node, context)),
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
      anonymous('at start', before.anonymous),
      anonymous('at idle', after.anonymous),
      { name: 'major faults at idle', value: faults, unit: 'a minute', atMost: 10 },
      { name: 'processor at idle', value: (cpuAfter - cpuBefore) / (IDLE_MS / 1000), unit: 'ms a second', atMost: 1 },
      killed('at idle', after.oomKills),
    ];
  });
}

/** Two hours of looking for updates, and hundreds of updates that are prepared and called off, in a minute. */
function hours(stand: Stand, node: string, context: BenchContext): Promise<Figure[]> {
  context.progress(`hours in a hurry, ${BUSY_MS / 1000} s`);
  const env = { UPDATE_CHECK_INTERVAL_IN_SEC: '1' };
  return inCgroup({ stand, node, limitMiB: LIMIT_MIB, env }, async ({ cgroup }) => {
    await stand.until(({ status }) => status?.target_version === OFFERED);
    const figures = await highest(cgroup, 'in those hours', () => beBusy(stand, context));
    return [anonymous('after hours', (await cgroup.read()).anonymous), ...figures];
  });
}

async function beBusy(stand: Stand, { signal }: BenchContext): Promise<void> {
  const end = systemClock.monotonic() + BUSY_MS;
  for (let spec = WANTED[0]; systemClock.monotonic() < end; spec = spec === WANTED[0] ? WANTED[1] : WANTED[0]) {
    await stand.want(spec);
    await stand.until(({ status }) => status?.current_state === spec.state);
    await systemClock.sleep(PAUSE_MS, signal);
  }
}

/** The last one: the host runs what was offered after it. */
function rollout(stand: Stand, node: string, context: BenchContext): Promise<Figure[]> {
  context.progress('a whole update');
  dropFromPageCache(node);
  return inCgroup({ stand, node, limitMiB: LIMIT_MIB }, (running) =>
    highest(running.cgroup, 'in a rollout', () => wholeUpdate(stand, running)),
  );
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
