import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a memory cgroup tells of the processes in it. */
export interface Memory {
  /** Bytes that no file stands behind. */
  readonly anonymous: number;
  /** Pages that had to be read from disk so far. */
  readonly majorFaults: number;
  readonly oomKills: number;
}

interface Files {
  readonly root: string;
  readonly limit: string;
  readonly events: string;
  readonly anonymous: string;
}

const STAT = 'memory.stat';
const V1: Files = {
  root: '/sys/fs/cgroup/memory',
  limit: 'memory.limit_in_bytes',
  events: 'memory.oom_control',
  anonymous: 'rss',
};
const V2: Files = { root: '/sys/fs/cgroup', limit: 'memory.max', events: 'memory.events', anonymous: 'anon' };

/** A cgroup with a memory limit, as a container has one. Needs root. */
export class MemoryCgroup {
  readonly #dir: string;
  readonly #files: Files;

  private constructor(dir: string, files: Files) {
    this.#dir = dir;
    this.#files = files;
  }

  /** @param limitMiB of memory, the page cache that the processes fill included */
  static async create(limitMiB: number): Promise<MemoryCgroup> {
    const files = existsSync(join(V2.root, 'cgroup.controllers')) ? V2 : V1;
    const dir = await mkdtemp(join(files.root, 'brupop-bench-'));
    await writeFile(join(dir, files.limit), String(limitMiB * 2 ** 20));
    return new MemoryCgroup(dir, files);
  }

  /** Where a process writes its id to come in; its children follow. */
  get entrance(): string {
    return join(this.#dir, 'cgroup.procs');
  }

  async read(): Promise<Memory> {
    const stat = await fields(join(this.#dir, STAT));
    const events = await fields(join(this.#dir, this.#files.events));
    return {
      anonymous: stat[this.#files.anonymous] ?? NaN,
      majorFaults: stat['pgmajfault'] ?? NaN,
      oomKills: events['oom_kill'] ?? NaN,
    };
  }

  /** Once its processes have ended. */
  remove(): Promise<void> {
    return rmdir(this.#dir);
  }
}

/** Lines of a name and a number. */
async function fields(path: string): Promise<Readonly<Record<string, number>>> {
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(' ') as [string, string]).map(([k, v]) => [k, Number(v)]));
}
