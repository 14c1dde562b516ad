import { debianContents } from './contents.ts';
import { DebianArchive } from './debian.ts';
import { type Digest, type Downloads, inTemporaryFolder } from './downloads.ts';
import type { DebianPin, Lock } from './lock.ts';
import { fetchNode, lockNode } from './node.ts';
import { type Arch, PLATFORMS, type Platform } from './platforms.ts';

/** A package of Debian's on this machine. */
export interface DebianFile extends DebianPin {
  readonly name: string;
  readonly file: string;
}

/** Everything foreign that an image of one platform is made of. */
export interface Materials {
  /** npm's tarball. */
  readonly node: string;
  readonly debian: readonly DebianFile[];
}

export interface FetchOptions {
  readonly lock: Lock;
  readonly downloads: Downloads;
  /** What to do about a package whose pinned version no source has any more: take the newest and say so, or refuse. */
  readonly whenGone: 'newest' | 'refuse';
  /** Hears of each package that is another than the lock says. */
  readonly warn: (line: string) => void;
}

/** A release is made of what is pinned, and a pin is gone. */
export class PinGoneError extends Error {
  override readonly name = 'PinGoneError';
}

/** Fetches what is pinned. @throws WrongDigestError, PinGoneError, NoSuchPackageError */
export async function fetchMaterials(platform: Platform, options: FetchOptions): Promise<Materials> {
  const { lock, downloads } = options;
  const node = await fetchNode(lock, platform, downloads);
  return inTemporaryFolder(async (dir) => {
    const archive = new DebianArchive({ arch: platform.arch, suite: lock.debian.suite, dir });
    const debian: DebianFile[] = [];
    for (const { name } of debianContents(platform)) {
      const pinned = lock.debian.packages[name]?.[platform.arch];
      debian.push(await fetchDebian({ name, pinned, archive }, options));
    }
    return { node, debian };
  });
}

export interface Wanted {
  readonly name: string;
  readonly pinned: DebianPin | undefined;
  readonly archive: Pick<DebianArchive, 'has' | 'newest' | 'download'>;
}

/** A package as it is pinned, or as `whenGone` says. @throws WrongDigestError, PinGoneError, NoSuchPackageError */
export async function fetchDebian(wanted: Wanted, options: FetchOptions): Promise<DebianFile> {
  const { name, archive } = wanted;
  const { downloads } = options;
  const pin = await obtainable(wanted, options);
  const file = await downloads.fetch(`${name} ${pin.version}`, sha256(pin), (dir) =>
    archive.download(name, pin.version, dir),
  );
  return { name, ...pin, file };
}

/** Mirrors keep the newest version of a package and drop the one before. */
async function obtainable(
  { name, pinned, archive }: Wanted,
  { downloads, whenGone, warn }: FetchOptions,
): Promise<DebianPin> {
  if (!pinned) throw new PinGoneError(`${name} is not in tools/image/lock.json: npm run image -- lock`);
  if ((await downloads.find(sha256(pinned))) !== undefined || (await archive.has(name, pinned.version))) return pinned;
  const gone = `${name} ${pinned.version} is pinned, and no source has it any more`;
  if (whenGone === 'refuse') throw new PinGoneError(`${gone}: npm run image -- lock`);
  const newest = await archive.newest(name);
  warn(`${gone}: the image has ${newest.version} in its place`);
  return newest;
}

function sha256({ sha256: value }: DebianPin): Digest {
  return { algorithm: 'sha256', value };
}

/** The newest of everything in the Debian release that the lock before names. @param version of Node @throws NoSuchPackageError */
export async function newLock(version: string, { debian }: Lock): Promise<Lock> {
  const packages: Record<string, Record<Arch, DebianPin>> = {};
  for (const { name } of debianContents(PLATFORMS[0])) packages[name] = {} as Record<Arch, DebianPin>;
  for (const platform of PLATFORMS)
    await inTemporaryFolder(async (dir) => {
      const archive = new DebianArchive({ arch: platform.arch, suite: debian.suite, dir });
      for (const [name, pins] of Object.entries(packages)) pins[platform.arch] = await archive.newest(name);
    });
  return { node: await lockNode(version), debian: { ...debian, packages } };
}
