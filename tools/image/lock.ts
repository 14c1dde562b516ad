import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Arch } from './platforms.ts';

/** A package of Debian's, of one architecture. */
export interface DebianPin {
  readonly version: string;
  /** Of the file, hexadecimal. */
  readonly sha256: string;
}

/** What the image is made of, besides this project: exactly these files. */
export interface Lock {
  readonly node: {
    readonly version: string;
    /** Of npm's tarball, as npm has it: `sha512-` and base64. */
    readonly integrity: Readonly<Record<Arch, string>>;
  };
  readonly debian: {
    /** Code name of the release, e.g. bookworm. */
    readonly suite: string;
    /** Its number, e.g. 12. */
    readonly release: string;
    readonly packages: Readonly<Record<string, Readonly<Record<Arch, DebianPin>>>>;
  };
}

const FILE = fileURLToPath(new URL('lock.json', import.meta.url));

export async function readLock(): Promise<Lock> {
  return JSON.parse(await readFile(FILE, 'utf8')) as Lock;
}

export async function writeLock(lock: Lock): Promise<void> {
  await writeFile(FILE, `${JSON.stringify(lock, null, 2)}\n`);
}
