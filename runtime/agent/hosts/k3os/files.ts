import { lstat, mkdir, readFile, readlink, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HostUnreachableError } from '../errors.ts';

/** The host's files that its driver needs, by their paths on the host. All reject with HostUnreachableError where the host does not let them. */
export interface HostFiles {
  /** Undefined where there is none. */
  read(path: string): Promise<string | undefined>;
  /** Replaces the file at once. A reader sees either the whole new text or the old one. */
  write(path: string, text: string): Promise<void>;
  /** What a symbolic link points to; undefined where there is none. */
  linkAt(path: string): Promise<string | undefined>;
  /** Creates a symbolic link, or changes its target at once, so that the link always exists. */
  link(path: string, target: string): Promise<void>;
  isDirectory(path: string): Promise<boolean>;
}

/** Files below a folder. */
export class MountedFiles implements HostFiles {
  readonly #root: string;
  constructor(root: string) {
    this.#root = root;
  }

  read(path: string): Promise<string | undefined> {
    return this.#unlessMissing(path, (file) => readFile(file, 'utf8'));
  }

  async write(path: string, text: string): Promise<void> {
    await this.#reach(path, async (file) => {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(`${file}${NEW}`, text);
      await rename(`${file}${NEW}`, file);
    });
  }

  linkAt(path: string): Promise<string | undefined> {
    return this.#unlessMissing(path, async (file) => {
      const isLink = (await lstat(file)).isSymbolicLink();
      return isLink ? readlink(file) : undefined;
    });
  }

  async link(path: string, target: string): Promise<void> {
    await this.#reach(path, async (file) => {
      await rm(`${file}${NEW}`, { force: true });
      await symlink(target, `${file}${NEW}`);
      await rename(`${file}${NEW}`, file);
    });
  }

  async isDirectory(path: string): Promise<boolean> {
    return (await this.#unlessMissing(path, async (file) => (await stat(file)).isDirectory())) ?? false;
  }

  async #unlessMissing<T>(path: string, work: (file: string) => Promise<T>): Promise<T | undefined> {
    try {
      return await this.#reach(path, work);
    } catch (error) {
      if (error instanceof HostUnreachableError && MISSING.has(error.code)) return undefined;
      throw error;
    }
  }

  async #reach<T>(path: string, work: (file: string) => Promise<T>): Promise<T> {
    try {
      return await work(join(this.#root, path));
    } catch (cause) {
      throw new HostUnreachableError(path, (cause as NodeJS.ErrnoException).code ?? 'EIO', { cause });
    }
  }
}

const MISSING: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);
/** Suffix of a new file, which replaces the other one when it is complete. */
const NEW = '.brupop';
