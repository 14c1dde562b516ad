import { existsSync } from 'node:fs';
import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { systemClock } from '../../../runtime/lib/clock.ts';

const MOUNT = '/sys/fs/cgroup';
/** Of the folders of control planes, by which cgroups are named; others of ours have theirs. */
const PREFIX = 'brupop-controlplane-';
/** How long the kernel takes to let go of processes that have ended. */
const BUSY_MS = 50;
const TRIES = 40;

/** A cgroup of the nodes, the same in every hierarchy: process ends take processes away, but not their cgroups. */
export class Cgroup {
  /** From the hierarchies' roots, beginning with a slash. */
  readonly path: string;

  /** @param dir folder of the cluster: what it is named by belongs to nobody when that is gone */
  constructor(dir: string, name: string) {
    this.path = `/${basename(dir)}/${name}`;
  }

  /** With the ones above it. */
  async create(): Promise<void> {
    for (const root of await hierarchies()) await mkdir(join(root, this.path), { recursive: true });
  }

  /** With all below it. No process is in any of them. */
  async remove(): Promise<void> {
    for (const root of await hierarchies()) await removeTree(join(root, this.path));
  }
}

/** Removes the cgroups of clusters that were killed. */
export async function removeAbandoned(): Promise<void> {
  for (const root of await hierarchies()) {
    const names = (await readdir(root)).filter((name) => name.startsWith(PREFIX));
    for (const name of names) if (!existsSync(join(tmpdir(), name))) await removeTree(join(root, name));
  }
}

/** Removes what a cluster had, when all of its nodes are down. @param dir its folder */
export async function removeAll(dir: string): Promise<void> {
  for (const root of await hierarchies()) await removeTree(join(root, basename(dir)));
}

/** Roots of this machine's hierarchies: one for each controller with cgroup v1, else one. */
async function hierarchies(): Promise<readonly string[]> {
  if (existsSync(join(MOUNT, 'cgroup.controllers'))) return [MOUNT];
  const entries = await readdir(MOUNT, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(MOUNT, name));
}

async function removeTree(dir: string): Promise<void> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(dir, entry.name));
  for (let tries = 1; ; tries += 1) {
    try {
      return await rmdir(dir);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return;
      if (code !== 'EBUSY' || tries === TRIES) throw error;
      await systemClock.sleep(BUSY_MS);
    }
  }
}
