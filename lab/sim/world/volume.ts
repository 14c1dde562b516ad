import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

/** Files of a volume by name. */
export type VolumeFiles = Readonly<Record<string, string>>;

/** Who may read the files of a volume. */
export interface VolumeAccess {
  readonly mode: number;
  /** @default that of whoever writes them */
  readonly group?: number;
}

const EVERYBODY: VolumeAccess = { mode: 0o644 };

/** The link to the folder of the present version. */
const DATA = '..data';

/**
 * Brings a mounted Secret, or projected volume, to these files as a kubelet does: each file is a link through one link above them all,
 * and that is swapped, so that whoever reads never finds the files of two versions. Nothing is written where nothing has changed.
 */
export async function writeVolume(dir: string, files: VolumeFiles, access = EVERYBODY): Promise<void> {
  await mkdir(dir, { recursive: true });
  const before = await readlink(join(dir, DATA)).catch(() => undefined);
  if (before !== undefined && isDeepStrictEqual(await readAll(join(dir, before)), files)) return;
  const version = await mkdtemp(`${dir}/..`);
  await chmod(version, 0o755);
  for (const [name, content] of Object.entries(files)) await writeFor(access, join(version, name), content);
  await symlink(basename(version), join(dir, '..data_tmp'));
  await rename(join(dir, '..data_tmp'), join(dir, DATA));
  await link(dir, [...new Set(Object.keys(files).map((name) => name.split('/')[0] ?? name))]);
  if (before !== undefined) await rm(join(dir, before), { recursive: true });
}

async function writeFor({ mode, group }: VolumeAccess, file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o755 });
  await writeFile(file, content, { mode });
  // Only root gives a file to a group that it is not in. Whoever else runs the simulation is the user of its programs, and the file's owner.
  if (group !== undefined) await chown(file, -1, group).catch(() => undefined);
}

async function readAll(dir: string): Promise<VolumeFiles> {
  const found = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = found.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [relative(dir, file), await readFile(file, 'utf8')])),
  ) as VolumeFiles;
}

/** The names that a container sees. */
async function link(dir: string, names: readonly string[]): Promise<void> {
  const present = (await readdir(dir)).filter((name) => !name.startsWith('..'));
  for (const name of present) if (!names.includes(name)) await unlink(join(dir, name));
  for (const name of names) if (!present.includes(name)) await symlink(join(DATA, name), join(dir, name));
}
