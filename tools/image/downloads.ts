import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** A file by its content, e.g. `{ algorithm: 'sha256', value: '...' }`, hexadecimal. */
export interface Digest {
  readonly algorithm: 'sha256' | 'sha512';
  readonly value: string;
}

/** Somebody gave out another file than the one that is pinned. */
export class WrongDigestError extends Error {
  override readonly name = 'WrongDigestError';
  constructor(what: string, expected: Digest, got: string) {
    super(`${what}: expected ${expected.algorithm} ${expected.value}, got ${got}`);
  }
}

/** Runs `work` with an empty folder that is gone afterwards. */
export async function inTemporaryFolder<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'brupop-image-'));
  try {
    return await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * Files that have been fetched before, by their digests: what is pinned is fetched once, and is still there when its mirror has dropped it.
 */
export class Downloads {
  readonly #dir: string;

  constructor(env: NodeJS.ProcessEnv) {
    this.#dir = join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'brupop-image');
  }

  /** The file of that digest; undefined where it has never been fetched, or is not what it was. */
  async find({ algorithm, value }: Digest): Promise<string | undefined> {
    const file = this.#fileOf({ algorithm, value });
    return existsSync(file) && (await digestOf(file, algorithm)) === value ? file : undefined;
  }

  /** Keeps the one file that `download` leaves in the empty folder that it gets. @throws WrongDigestError where it is another */
  async fetch(what: string, digest: Digest, download: (dir: string) => Promise<unknown>): Promise<string> {
    const found = await this.find(digest);
    if (found !== undefined) return found;
    return inTemporaryFolder(async (dir) => {
      await download(dir);
      const [name = ''] = await readdir(dir);
      await verify(join(dir, name), digest, what);
      return this.#keep(join(dir, name), digest);
    });
  }

  /** Moved into place when whole: another build may look at the same moment. */
  async #keep(downloaded: string, digest: Digest): Promise<string> {
    const file = this.#fileOf(digest);
    await mkdir(this.#dir, { recursive: true });
    await copyFile(downloaded, `${file}.${process.pid}`);
    await rename(`${file}.${process.pid}`, file);
    return file;
  }

  #fileOf({ algorithm, value }: Digest): string {
    return join(this.#dir, `${algorithm}-${value}`);
  }
}

async function verify(file: string, expected: Digest, what: string): Promise<void> {
  const got = await digestOf(file, expected.algorithm);
  if (got !== expected.value) throw new WrongDigestError(what, expected, got);
}

/** Of a file, hexadecimal. */
async function digestOf(file: string, algorithm: Digest['algorithm']): Promise<string> {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
