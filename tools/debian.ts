import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './go/cache.ts';

const run = promisify(execFile);

export interface DebianOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Hears a line before something is downloaded. */
  readonly progress: (line: string) => void;
}

/**
 * Folder with the files of Debian's packages, at their paths. They are unpacked into the user's cache and not installed, which would
 * start services; what they depend on does not come with them.
 * @throws Error where this machine has no apt, or its apt no such package
 */
export async function debianFolder(packages: readonly string[], { env, progress }: DebianOptions): Promise<string> {
  const names = packages.toSorted();
  const cache = await cacheFolder({ module: 'debian', state: names }, env);
  const root = join(cache, 'root');
  if (existsSync(root)) return root;
  progress(`unpacking Debian's ${names.join(', ')} (once)`);
  const partial = await mkdtemp(join(cache, 'new-'));
  try {
    await download(names, partial, env);
    const archives = (await readdir(partial)).filter((name) => name.endsWith('.deb'));
    for (const archive of archives)
      await run('dpkg-deb', ['--extract', join(partial, archive), join(partial, 'root')], { env });
    // In one piece: what was interrupted leaves nothing that looks whole. Another work tree may have been faster.
    await rename(join(partial, 'root'), root).catch((error: unknown) => {
      if (!existsSync(root)) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return root;
}

async function download(packages: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const fetch = (): Promise<unknown> => run('apt-get', ['--quiet', 'download', ...packages], { cwd, env });
  try {
    // A machine may never have read its package lists, and those of another day name files that are gone.
    await fetch().catch(async () => {
      await run('apt-get', ['--quiet', 'update'], { env });
      await fetch();
    });
  } catch (cause) {
    throw new Error(`apt-get could not download ${packages.join(', ')}: install them, or use a machine with Debian`, {
      cause,
    });
  }
}

const progress = (line: string): void => void process.stderr.write(`${line}\n`);

/** `npm run --silent lab -- debian PACKAGE...`: unpacks them, if need be, and says where. */
if (import.meta.main)
  process.stdout.write(`${await debianFolder(process.argv.slice(2), { env: process.env, progress })}\n`);
