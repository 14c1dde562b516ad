import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CGROUPS = '/sys/fs/cgroup';

/** What keeps this machine from running real nodes: a sentence for each, none where all is there. */
export function missing(): readonly string[] {
  if (process.platform !== 'linux') return [`expected Linux, got ${process.platform}`];
  if (process.getuid?.() !== 0) return ['expected to run as root: nodes need cgroups and mounts of their own'];
  const programs = ['unshare', 'setpriv', 'ip', 'mount', 'dpkg-deb', 'apt-get'].filter((name) => !isOnPath(name));
  return [
    ...programs.map((name) => `expected ${name} on the PATH`),
    ...(isWritable(CGROUPS) ? [] : [`expected a ${CGROUPS} that can be written to`]),
    ...(canOverlay() ? [] : [`expected overlay file systems to work in ${tmpdir()}: set TMPDIR to a folder on a disk`]),
  ];
}

function isOnPath(name: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(':');
  return folders.some((folder) => existsSync(join(folder, name)));
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
