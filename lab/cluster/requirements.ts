import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const CGROUPS = '/sys/fs/cgroup';
const PROGRAMS = ['unshare', 'setpriv', 'ip', 'mount', 'dpkg-deb', 'apt-get'];

export interface Machine {
  /** As `process.platform`. */
  readonly platform: string;
  readonly uid: number | undefined;
  readonly path: string | undefined;
}

/** The one on which this process runs. */
const THIS: Machine = { platform: process.platform, uid: process.getuid?.(), path: process.env['PATH'] };

/** What keeps a machine from running real nodes: a sentence for each, none where all is there. @param machine this one by default */
export function missing({ platform, uid, path = '' }: Machine = THIS): readonly string[] {
  if (platform !== 'linux') return [`expected Linux, got ${platform}`];
  if (uid !== 0) return ['expected to run as root: nodes need cgroups and mounts of their own'];
  const folders = path.split(delimiter);
  const isThere = (name: string): boolean => folders.some((folder) => existsSync(join(folder, name)));
  const programs = PROGRAMS.filter((name) => !isThere(name));
  // What is missing already would be missed again by trying.
  if (programs.length > 0) return programs.map((name) => `expected ${name} on the PATH`);
  return [
    ...(isWritable(CGROUPS) ? [] : [`expected a ${CGROUPS} that can be written to`]),
    ...(canOverlay() ? [] : [`expected overlay file systems to work in ${tmpdir()}: set TMPDIR to a folder on a disk`]),
  ];
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** containerd's snapshots are overlays, which cannot lie on one. */
function canOverlay(): boolean {
  const dir = mkdtempSync(join(tmpdir(), 'brupop-overlay-'));
  try {
    for (const name of ['lower', 'upper', 'work', 'merged']) mkdirSync(join(dir, name));
    const options = `lowerdir=${dir}/lower,upperdir=${dir}/upper,workdir=${dir}/work`;
    const mount = 'mount -t overlay -o "$0" overlay "$1"';
    execFileSync('unshare', ['--mount', 'sh', '-c', mount, options, join(dir, 'merged')], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
