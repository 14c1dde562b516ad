import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdir, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../runtime/lib/clock.ts';

const UNUSED_MS = 30 * 24 * 3600 * 1000;

/** One state of a Go module, and what is built from it. */
export interface Source {
  /** Name of the module's folder. */
  readonly module: string;
  /** Everything that decides what comes out of it. */
  readonly state: readonly string[];
}

/** Folder in the user's cache for what comes out of a source, and of nothing else. It is made if need be, and counts as used now. */
export async function cacheFolder({ module, state }: Source, env: NodeJS.ProcessEnv): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(state)).digest('hex').slice(0, 16);
  const folder = join(rootOf(env), `${module}-${hash}`);
  await mkdir(folder, { recursive: true });
  const now = new Date(systemClock.now());
  // Somebody else's may be used as well.
  await utimes(folder, now, now).catch(() => undefined);
  return folder;
}

/** Removes what came out of older states of a module and has not been used for 30 days: by no other work tree either. */
export async function removeUnused(module: string, env: NodeJS.ProcessEnv): Promise<void> {
  const root = rootOf(env);
  for (const name of globSync(`${module}-${'[0-9a-f]'.repeat(16)}`, { cwd: root })) {
    // Another work tree may remove it at the same moment.
    const found = await stat(join(root, name)).catch(() => undefined);
    if (found && systemClock.now() - found.mtimeMs > UNUSED_MS)
      await rm(join(root, name), { recursive: true, force: true });
  }
}

function rootOf(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'brupop-controlplane');
}
